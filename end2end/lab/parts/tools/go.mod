module kubeonkube.test/lab/tools

go 1.24.0

module kubeonkube.clay.io/end2end/gateway-api

go 1.24.0

// The definition of HTTPRoute, for tests of the chart.
require sigs.k8s.io/gateway-api v1.4.0

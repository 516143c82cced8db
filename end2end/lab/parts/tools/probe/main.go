// Command probe is the lab's small network tool, one static file that runs in any image:
//
//	probe answer ADDRESS        answer every request with the host's name
//	probe files ADDRESS FOLDER  serve the files of a folder
//	probe get URL               print what a URL answers; exit 1 unless it is 200
//	probe lookup NAME           print the addresses of a name
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func run(words []string) error {
	switch {
	case len(words) == 2 && words[0] == "answer":
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		return http.ListenAndServe(words[1], http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
			fmt.Fprintf(answer, "%s saw %s\n", host, request.RemoteAddr)
		}))
	case len(words) == 3 && words[0] == "files":
		return http.ListenAndServe(words[1], http.FileServer(http.Dir(words[2])))
	case len(words) == 2 && words[0] == "get":
		return get(words[1])
	case len(words) == 2 && words[0] == "lookup":
		addresses, err := net.LookupHost(words[1])
		fmt.Println(strings.Join(addresses, "\n"))
		return err
	}
	return errors.New("usage: probe answer ADDRESS | files ADDRESS FOLDER | get URL | lookup NAME")
}

func get(url string) error {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

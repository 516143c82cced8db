// Command pause holds namespaces open: a pod's, and the lab's own. As process 1 it reaps what others leave behind.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// `kubeadm upgrade apply` runs a Job `pause -v` and expects it to complete.
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		fmt.Println("pause")
		return
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			child, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if child <= 0 || err != nil {
				break
			}
		}
	}
}

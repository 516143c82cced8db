// Command kubernetes is every component of Kubernetes in one binary. Which one it is, the name it is called by says (a
// link per component), else its first argument. Every version's module has a link to this file, and kubelet.go for what
// differs between versions.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app/cmd"
)

func component(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kubelet":
		return newKubelet()
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand()
	case "kubeadm":
		return kubeadm.NewKubeadmCommand(os.Stdin, os.Stdout, os.Stderr)
	}
	return nil
}

func main() {
	command := component(filepath.Base(os.Args[0]))
	if command == nil && len(os.Args) > 1 {
		if command = component(os.Args[1]); command != nil {
			os.Args = os.Args[1:]
		}
	}
	if command == nil {
		fmt.Fprintln(os.Stderr, "call this by the name of a Kubernetes component, or give one as the first argument")
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}

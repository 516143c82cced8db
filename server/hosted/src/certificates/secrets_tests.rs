use std::process::{Command, Stdio};

use super::*;
use crate::certificates::leaf;
use crate::objects::tests::plan;

const NOW: i64 = 1_800_000_000;

fn address() -> Address {
    Address { cluster_ip: "10.79.3.4".parse().unwrap(), public: "10.77.0.201".parse().unwrap(), port: 30_443 }
}

fn made(plan: &Plan, authorities: &Authorities) -> Vec<(&'static str, Data)> {
    let all = bundles(plan, &address());
    all.iter().map(|bundle| (bundle.secret, bundle.make(authorities, NOW).unwrap())).collect()
}

fn text<'a>(made: &'a [(&str, Data)], secret: &str, file: &str) -> &'a str {
    let (_, data) = made.iter().find(|(name, _)| *name == secret).unwrap_or_else(|| panic!("no {secret}"));
    std::str::from_utf8(&data.get(file).unwrap_or_else(|| panic!("no {file} in {secret}")).0).unwrap()
}

/// What openssl prints with this input.
fn openssl(arguments: &[&str], input: &[u8]) -> String {
    use std::io::Write;
    let mut command = Command::new("openssl");
    let mut openssl =
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl is installed");
    openssl.stdin.take().unwrap().write_all(input).unwrap();
    String::from_utf8(openssl.wait_with_output().unwrap().stdout).unwrap()
}

/// What openssl prints of a certificate.
fn shown(certificate: &str) -> String {
    openssl(&["x509", "-noout", "-text"], certificate.as_bytes())
}

#[test]
fn the_api_servers_certificate_has_all_names() {
    let plan = plan(|hosted| hosted.endpoint.cert_sans = vec!["api.example.com".into(), "192.0.2.7".into()]);
    let made = made(&plan, &Authorities::generate(NOW).unwrap());
    let shown = shown(text(&made, API_SERVER, "apiserver.crt"));
    for name in [
        "DNS:kubernetes.default.svc.cluster.local",
        "DNS:apiserver.shop.svc",
        "DNS:localhost",
        "DNS:api.example.com",
        "IP Address:10.96.0.1",
        "IP Address:10.79.3.4",
        "IP Address:10.77.0.201",
        "IP Address:192.0.2.7",
    ] {
        assert!(shown.contains(name), "{name} is missing in {shown}");
    }
    assert!(shown.contains("Issuer: CN = kubernetes") || shown.contains("Issuer: CN=kubernetes"), "{shown}");
    assert!(shown.contains("TLS Web Server Authentication") && !shown.contains("TLS Web Client"), "{shown}");
    assert!(shown.contains("prime256v1"), "{shown}");
}

#[test]
fn clients_have_the_names_that_rbac_knows() {
    let made = made(&plan(|_| {}), &Authorities::generate(NOW).unwrap());
    for (secret, file, user, group) in [
        (ADMIN_CONFIG, "admin.conf", "kubernetes-admin", "kubeadm:cluster-admins"),
        (SUPER_ADMIN_CONFIG, "super-admin.conf", "kubernetes-super-admin", "system:masters"),
        (CONTROLLER_MANAGER_CONFIG, "controller-manager.conf", "system:kube-controller-manager", ""),
        (SCHEDULER_CONFIG, "scheduler.conf", "system:kube-scheduler", ""),
    ] {
        let config: serde_json::Value = serde_json::from_str(text(&made, secret, file)).unwrap();
        let data = config["users"][0]["user"]["client-certificate-data"].as_str().unwrap();
        let certificate = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
        let shown = shown(std::str::from_utf8(&certificate).unwrap()).replace(" = ", "=");
        assert!(shown.contains(&format!("CN={user}")), "{shown}");
        assert!(group.is_empty() || shown.contains(&format!("O={group}")), "{shown}");
    }
    let server = |file: &str, secret: &str| {
        let config: serde_json::Value = serde_json::from_str(text(&made, secret, file)).unwrap();
        config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned()
    };
    assert_eq!(server("admin.conf", ADMIN_CONFIG), "https://10.77.0.201:30443");
    assert_eq!(server("super-admin.conf", SUPER_ADMIN_CONFIG), "https://localhost:6443");
    assert_eq!(server("scheduler.conf", SCHEDULER_CONFIG), "https://apiserver.shop.svc:6443");
}

#[test]
fn each_certificate_is_valid_under_its_stored_authority() {
    let first = Authorities::generate(NOW).unwrap();
    // As after a restart: the authorities come from their Secret.
    let stored = Authorities::parse(first.data().clone(), first.expires).unwrap();
    let made = made(&plan(|_| {}), &stored);
    let folder = std::env::temp_dir().join(format!("kubeonkube-hosted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (secret, file, authority) in [
        (API_SERVER, "apiserver.crt", "ca.crt"),
        (API_SERVER, "apiserver-kubelet-client.crt", "ca.crt"),
        (API_SERVER, "front-proxy-client.crt", "front-proxy-ca.crt"),
        (API_SERVER, "apiserver-etcd-client.crt", "etcd-ca.crt"),
        (ETCD, "etcd-server.crt", "etcd-ca.crt"),
        (ETCD, "etcd-peer.crt", "etcd-ca.crt"),
    ] {
        std::fs::write(folder.join("ca"), stored.text(authority).unwrap()).unwrap();
        std::fs::write(folder.join("leaf"), text(&made, secret, file)).unwrap();
        let at = (NOW + 60).to_string();
        let verified = Command::new("openssl")
            .args(["verify", "-attime", &at, "-CAfile", "ca", "leaf"])
            .current_dir(&folder)
            .output()
            .expect("openssl is installed");
        assert!(verified.status.success(), "{file}: {}", String::from_utf8_lossy(&verified.stderr));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_certificate_never_outlives_its_authority() {
    let authorities = Authorities::generate(NOW).unwrap();
    let year = 365 * 24 * 3600;
    assert_eq!(crate::certificates::leaf::expires(&authorities, NOW), NOW + year);
    let late = authorities.expires - 1000;
    assert_eq!(crate::certificates::leaf::expires(&authorities, late), authorities.expires);
}

#[test]
fn a_secret_is_made_for_its_addresses() {
    let plan = plan(|_| {});
    let here = bundles(&plan, &address());
    let there = bundles(&plan, &Address { port: 30_444, ..address() });
    let changed: Vec<&str> =
        here.iter().zip(&there).filter(|(a, b)| a.made_for != b.made_for).map(|(a, _)| a.secret).collect();
    assert_eq!(changed, [ADMIN_CONFIG], "a port is in no certificate");
    let moved = bundles(&plan, &Address { public: "10.77.0.202".parse().unwrap(), ..address() });
    let changed: Vec<&str> =
        here.iter().zip(&moved).filter(|(a, b)| a.made_for != b.made_for).map(|(a, _)| a.secret).collect();
    assert_eq!(changed, [API_SERVER, ADMIN_CONFIG]);
    let all: Vec<&str> = here.iter().map(|bundle| bundle.secret).collect();
    assert_eq!(all, ALL[1..], "deletion knows all Secrets");
}

#[test]
fn a_secret_without_one_of_its_files_is_noticed() {
    let authorities = Authorities::generate(NOW).unwrap();
    for bundle in bundles(&plan(|_| {}), &address()) {
        let data = bundle.make(&authorities, NOW).unwrap();
        assert!(bundle.is_complete(&data), "{}", bundle.secret);
        for file in data.keys() {
            let mut less = data.clone();
            less.remove(file);
            assert!(!bundle.is_complete(&less), "{} without {file}", bundle.secret);
        }
    }
    let mut broken = authorities.data().clone();
    broken.remove("etcd-ca.key");
    let why = Authorities::parse(broken, authorities.expires).err().unwrap();
    assert!(why.contains("etcd-ca.key"), "{why}");
}

#[test]
fn the_digests_are_those_that_kubeadm_and_machines_compare() {
    let authorities = Authorities::generate(NOW).unwrap();
    let (certificate, key) = authorities.cluster_digests().unwrap();
    let pem = authorities.text("ca.crt").unwrap();
    let printed = openssl(&["x509", "-noout", "-fingerprint", "-sha256"], pem.as_bytes());
    let fingerprint = printed.trim().rsplit('=').next().unwrap().replace(':', "").to_lowercase();
    assert_eq!(certificate, fingerprint);
    // The documentation of kubeadm computes the digest of the key like this.
    let public = openssl(&["x509", "-noout", "-pubkey"], pem.as_bytes());
    let digest = |text: String| text.trim().rsplit(' ').next().unwrap().to_owned();
    let pipe = "openssl pkey -pubin -outform der | openssl dgst -sha256";
    let mut shell = Command::new("sh").args(["-c", pipe]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), public.as_bytes()).unwrap();
    assert_eq!(key, digest(String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()));
}

#[test]
fn certificates_are_renewed_at_a_third_of_their_life() {
    let authorities = Authorities::generate(NOW).unwrap();
    let due = |expire: i64| leaf::is_due(&authorities, expire, NOW);
    assert!(!due(NOW + leaf::YEAR) && !due(NOW + leaf::YEAR / 2));
    assert!(due(NOW + leaf::YEAR / 3 - 1) && due(NOW - 1));
    // New certificates would expire with their authority, too.
    let end = authorities.expires - leaf::YEAR / 4;
    assert!(!leaf::is_due(&authorities, authorities.expires, end));
}

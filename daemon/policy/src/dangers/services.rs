//! Dangerous options of programs that talk to others: networks, containers, packages. Facts only; called by `dangers`.

use super::{Danger, danger};

#[rustfmt::skip]
pub(super) const SERVICES: &[Danger] = &[
    danger(
        &["curl"], "oOJKTDcdFwEQ",
        &[ "output", "output-dir", "remote-name", "remote-name-all", "remote-header-name", "config", "upload-file", "dump-header", "cookie-jar", "data", "data-binary", "data-ascii", "data-raw", "data-urlencode", "json", "form", "form-string", "trace", "trace-ascii", "trace-config", "stderr", "libcurl", "engine", "egd-file", "etag-save", "hsts", "alt-svc", "netrc-file", "write-out", "key", "cert", "quote", "proxy", "preproxy", "unix-socket", "abstract-unix-socket", "resolve", "connect-to", "doh-url", "create-file-mode", ],
    ),
    danger(
        &["rsync"], "e",
        &[ "rsh", "rsync-path", "log-file", "write-batch", "only-write-batch", "backup-dir", "temp-dir", "files-from", "daemon", "config", ],
    ),
    danger(&["scp"], "SoFDJ", &[]),
    danger(
        &["docker", "podman", "nerdctl", "docker-compose"], "fHcovw",
        &[ "file", "host", "config", "context", "output", "volume", "mount", "privileged", "project-directory", "env-file", "iidfile", "cidfile", "entrypoint", "security-opt", "cap-add", "device", "pid", "secret", "ssh", ],
    ),
    danger(
        &["kubectl", "helm", "oc"], "fk",
        &[ "kubeconfig", "filename", "kustomize", "post-renderer", "output-directory", "output-dir", "as", "token", "server", ],
    ),
    danger(
        &["terraform", "tofu"], "",
        &[ "chdir", "plugin-dir", "out", "state", "state-out", "backup", "var-file", ],
    ),
    danger(
        &["apt", "apt-get", "apt-cache"], "oc",
        &["option", "config-file"],
    ),
    danger(
        &["tcpdump", "tshark", "nmap", "dig", "wireshark"], "wzfoi",
        &["script", "datadir", "servicedb", "stylesheet"],
    ),
    danger(&["aws", "gcloud", "az", "gsutil", "doctl"], "", &["endpoint-url", "cli-input-json", "cli-input-yaml", "ca-bundle", "configuration", "flags-file", "log-http"]),
    danger(&["ping", "ping6", "traceroute", "mtr"], "", &[]),
    danger(&["youtube-dl", "yt-dlp"], "oaP", &["exec", "exec-before-download", "output", "downloader", "external-downloader", "batch-file", "config-location", "config-locations", "paths", "plugin-dirs"]),
    danger(&["httpie", "http", "https", "xh"], "odp", &["output", "download", "session", "session-read-only", "plugins"]),
    danger(&["ssh-keygen"], "DfYIw", &[]),
    danger(&["ssh-keyscan"], "f", &[]),
    danger(&["rpm", "dpkg", "yum", "dnf", "zypper", "pacman", "brew", "snap", "flatpak", "gem"], "cED", &["eval", "pipe", "pre-invoke", "post-invoke", "root", "admindir", "setopt", "hookdir", "config", "plugin", "macros", "load", "rcfile", "define"]),
    danger(&["ansible", "ansible-playbook", "puppet", "salt", "chef-client"], "aimMe", &["args", "module-name", "module-path", "inventory", "extra-vars", "execute", "vault-password-file", "private-key", "ssh-extra-args", "ssh-common-args"]),
    danger(&["restic", "borg", "rclone"], "", &["password-command", "config", "rsh", "remote-path", "option", "repository-file"]),
    danger(&["snmpget", "openvpn", "nginx", "dnsmasq", "iptables", "ip6tables"], "cg", &["up", "down", "config", "modprobe", "script-security", "dhcp-script", "conf-script"]),
];

//! Reading and writing files.

use std::path::Path;

use super::*;

/// Runs each script in each room. It must print `no`, because its attempt must fail.
async fn all_fail(scripts: &[&str]) {
    for room in rooms().await {
        for script in scripts {
            let done = room
                .sh(&format!(
                    "{{ {script}\n}} >/dev/null 2>$base/temp/err && echo yes || echo no"
                ))
                .await;
            assert_eq!(done.out, "no\n", "{:?}: {script}: {done:?}", room.user);
        }
        assert_eq!(room.text("outside/file"), "outside");
        assert_eq!(room.text("secrets/key"), "secret");
        assert_eq!(room.text("ws/.env"), "secret");
        assert_eq!(room.text("ws/.git/config"), "config");
        let hooks = std::fs::read_dir(room.ws(".git/hooks")).unwrap().count();
        assert_eq!(hooks, 0);
        for name in [".mcp.json", ".reasonix", ".git/commondir"] {
            assert!(!room.ws(name).exists(), "{name} was left");
        }
    }
}

#[tokio::test]
async fn nothing_outside_can_be_changed() {
    all_fail(&[
        "echo x > $base/outside/file",
        "echo x >> $base/outside/new",
        "rm $base/outside/file",
        "mv $base/outside/file moved",
        "ln $base/outside/file linked",
        "ln -s $base/outside/file sym && echo x > sym",
        "chmod 777 $base/outside/file",
        "chown 0 $base/outside/file && chown 65534 $base/outside/file",
        "touch $base/outside/file",
        "truncate -s 0 $base/outside/file",
        "echo x > /proc/self/root$base/outside/file",
        "echo x > /proc/1/root$base/outside/file",
        "echo x > /proc/$PPID/root$base/outside/file",
        "touch /etc/x || touch /usr/x || touch /x || touch /var/tmp/x || touch /sys/x",
        "touch /run/x || mkdir /run/user",
        // Writes the current value: a hole must not change the machine.
        "now=$(cat /proc/sys/kernel/core_pattern); echo \"$now\" > /proc/sys/kernel/core_pattern",
        "now=$(cat /proc/sys/net/ipv4/ip_forward); echo \"$now\" > /proc/sys/net/ipv4/ip_forward",
        "echo h > /proc/sysrq-trigger",
        "mknod -m 666 disk b 254 0 && head -c 1 disk",
    ])
    .await;
}

#[tokio::test]
async fn masked_files_can_be_neither_read_nor_replaced() {
    all_fail(&[
        "grep secret $base/secrets/key",
        "ls -A $base/secrets | grep .",
        "touch $base/secrets/new",
        "rmdir $base/secrets",
        "mv $base/secrets gone",
        "grep secret .env",
        "echo x > .env",
        "rm -f .env",
        "mv .env away",
        "mv file .env",
        "ln .env hard && grep secret hard",
        "cp /proc/1/root$base/secrets/key here",
        "umount .env && grep secret .env",
        "umount -l $base/secrets && grep secret $base/secrets/key",
        "mount -o remount,rw / && touch /etc/x",
        "mount -t tmpfs none sub",
        "mount --bind / sub && grep secret sub$base/secrets/key",
        "unshare -Ur true",
        "unshare -Urm sh -c \"umount $base/secrets; grep secret $base/secrets/key\"",
        "unshare -m sh -c \"umount $base/secrets; grep secret $base/secrets/key\"",
        "chroot / grep secret $base/secrets/key",
        "nsenter -t 1 -m grep secret $base/secrets/key",
    ])
    .await;
}

#[tokio::test]
async fn only_named_exceptions_of_a_masked_directory_are_readable() {
    for mut room in rooms().await {
        for name in ["secrets/own", "secrets/others"] {
            std::fs::create_dir(room.at(name)).unwrap();
            std::fs::write(room.at(name).join("out"), name).unwrap();
        }
        room.sandbox.readable = vec![room.at("secrets/own"), room.at("secrets/none")];
        room.give();
        let done = room
            .sh("cat $base/secrets/own/out; echo; ls -A $base/secrets; { echo x > $base/secrets/own/out; touch $base/secrets/own/new; } 2>/dev/null || echo no")
            .await;
        assert_eq!(
            done.out, "secrets/own\nown\nno\n",
            "{:?}: {done:?}",
            room.user
        );
    }
}

#[tokio::test]
async fn protected_files_cannot_be_changed_by_any_trick() {
    all_fail(&[
        "echo x > .git/hooks/pre-commit",
        "echo x > .git/config",
        "rm -f .git/config",
        "mv file .git/config",
        "mv .git/config .git/config2",
        "chmod 777 .git/config",
        "mv .git .git2; mkdir -p .git/hooks && touch .git/hooks/x",
        "mv .git/hooks h; mkdir .git/hooks && touch .git/hooks/x",
        "rmdir .git/hooks",
        "rm -rf .git; mkdir -p .git/hooks && touch .git/hooks/x",
        "cd ..; mv ws ws2; mkdir -p ws/.git/hooks && touch ws/.git/hooks/x",
        "umount .git/hooks && touch .git/hooks/x",
        "mount -o remount,bind,rw .git/hooks && touch .git/hooks/x",
        "unshare -Urm sh -c 'umount .git/hooks; mount -o remount,bind,rw .git/hooks; touch .git/hooks/x'",
    ])
    .await;
}

#[tokio::test]
async fn the_workspace_and_the_temporary_directory_can_be_written() {
    for room in rooms().await {
        let script = "set -e; echo new > made; rm file; mkdir -p a/b; mv made a/b/; chmod 700 a; ln a/b/made hard
            echo x > .git/index.lock; mv .git/index.lock .git/index; echo t > /tmp/t; cat $base/temp/t
            f=$(mktemp); echo more > $f; cp $f a/; mkdir -p .git/objects/aa; rm -r .git/objects; echo done";
        let done = room.sh(script).await;
        assert_eq!(done.out, "t\ndone\n", "{:?}: {done:?}", room.user);
        assert_eq!(room.text("ws/a/b/made"), "new\n");
        assert_eq!(room.text("temp/t"), "t\n");
        assert!(!Path::new("/tmp/t").exists());
    }
}

#[tokio::test]
async fn no_socket_outside_is_reached() {
    for room in rooms().await {
        let masked = std::os::unix::net::UnixListener::bind(room.at("secrets/socket")).unwrap();
        room.give();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let script = format!(
            "python3 - $base <<'END'
import socket, sys
def attempt(family, to):
    s = socket.socket(family)
    s.settimeout(3)
    try:
        s.connect(to)
        print('reached', to)
    except OSError as error:
        print('no')
attempt(socket.AF_UNIX, sys.argv[1] + 'secrets/socket')
attempt(socket.AF_INET, ('127.0.0.1', {port}))
END"
        );
        let done = room.sh(&script).await;
        assert_eq!(done.out, "no\nno\n", "{:?}: {done:?}", room.user);
        drop((masked, tcp));
    }
}

#[tokio::test]
async fn with_network_access_local_ports_are_reachable() {
    for mut room in rooms().await {
        room.sandbox.network = true;
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let script = format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(1)'; cat /etc/resolv.conf >/dev/null && echo 2"
        );
        let done = room.sh(&script).await;
        assert_eq!(done.out, "1\n2\n", "{:?}: {done:?}", room.user);
    }
}

#[tokio::test]
async fn root_keeps_only_what_reaches_no_further_than_files() {
    for room in rooms().await {
        let done = room
            .sh("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status")
            .await;
        let words: Vec<&str> = done.out.split_whitespace().collect();
        let effective = u64::from_str_radix(words[1], 16).unwrap();
        // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE
        let kept = 0b101_1111_1011;
        let most = if room.user == User::Own { kept } else { 0 };
        assert_eq!(effective & !most, 0, "{done:?}");
        assert_eq!(words[5], "1");
    }
}

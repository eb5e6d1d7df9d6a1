//! Ordinary programs work in the sandbox.

use super::*;

#[tokio::test]
async fn git_commits_in_the_workspace() {
    for room in rooms().await {
        let git = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main";
        std::fs::remove_dir_all(room.ws(".git")).unwrap();
        let ready = std::process::Command::new("sh")
            .args([
                "-c",
                &format!("{git} init -q && {git} add . && {git} commit -qm one"),
            ])
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            .current_dir(room.at("ws"))
            .status()
            .unwrap();
        assert!(ready.success());
        room.give();
        let script = format!(
            "set -e; echo more >> file; {git} add file; {git} commit -qm two; {git} checkout -qb other; {git} status --short
             {git} log --oneline | wc -l; mkdir new; cd new; {git} init -q; echo y > y; {git} add y; {git} commit -qm in; {git} log --format=%s"
        );
        let done = room.sh(&script).await;
        assert!(done.out.ends_with("2\nin\n"), "{:?}: {done:?}", room.user);
    }
}

#[tokio::test]
async fn python_shares_memory_and_talks_to_itself() {
    let script = "cat > /tmp/p.py <<'END'
import multiprocessing, os, socket, subprocess, tempfile, threading
def square(n): return n * n
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(square, range(10))))
    a, b = socket.socketpair()
    a.send(b'x'); print(b.recv(1))
    server = socket.create_server(('127.0.0.1', 0))
    client = socket.create_connection(server.getsockname())
    print(client.getpeername()[0])
    path = os.path.join(tempfile.mkdtemp(), 's')
    unix = socket.socket(socket.AF_UNIX); unix.bind(path)
    print(subprocess.run(['true']).returncode)
END
python3 /tmp/p.py";
    for room in rooms().await {
        let done = room.sh(script).await;
        assert_eq!(
            done.out, "285\nb'x'\n127.0.0.1\n0\n",
            "{:?}: {done:?}",
            room.user
        );
    }
}

#[tokio::test]
async fn the_shell_does_what_shells_do() {
    let script = "set -m; sleep 0.01 & wait; kill -0 $$; echo $(( $(echo 1 | cat) + 1 )); trap 'echo trap' USR1; kill -USR1 $$
        (exec 3>fd; echo x >&3); cat fd; ulimit -c; echo y | tee t; [ -w /dev/null ] && head -c 2 /dev/zero | wc -c
        ls /dev/shm >/dev/null && touch /dev/shm/x && echo shm; nproc >/dev/null && uname >/dev/null && echo ok";
    for room in rooms().await {
        let done = room
            .sh(&format!("bash -c \"$(cat <<'END'\n{script}\nEND\n)\""))
            .await;
        assert_eq!(
            done.out, "2\ntrap\nx\n0\ny\n2\nshm\nok\n",
            "{:?}: {done:?}",
            room.user
        );
    }
}

#[tokio::test]
async fn node_and_make_run() {
    let script = "printf 'all:\\n\\t@echo made\\n' > Makefile; make -s -j4
        command -v node >/dev/null || { echo 3; exit; }
        node -e \"const {execSync}=require('child_process');const net=require('net');execSync('true');
        const s=net.createServer(c=>c.end()).listen(0,'127.0.0.1',()=>net.connect(s.address().port,'127.0.0.1').on('close',()=>{console.log(3);s.close()}))\"";
    for room in rooms().await {
        let done = room.sh(script).await;
        assert_eq!(done.out, "made\n3\n", "{:?}: {done:?}", room.user);
    }
}

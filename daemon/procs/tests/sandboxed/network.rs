//! The loopback of a session.

use futures::FutureExt as _;
use proto::Pid;

use super::*;

const SERVER: &str = "python3 -c 'import socket
s = socket.create_server((\"127.0.0.1\", 34567))
print(\"ready\", flush=True)
while True:
    c, _ = s.accept(); c.send(b\"hello\"); c.close()'";
const CLIENT: &str = "python3 -c 'import socket
try: print(socket.create_connection((\"127.0.0.1\", 34567), 5).recv(9).decode())
except OSError: print(\"nobody\")'";

#[tokio::test]
async fn a_server_of_a_session_is_reachable_only_from_that_session() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        let procs = Procs::start(room.options()).unwrap();
        let mut server = procs.spawn(Pid(1), room.command(SERVER)).await.unwrap();
        line(&mut server).await;
        let ask = async |session| {
            finish(procs.spawn(session, room.command(CLIENT)).await.unwrap())
                .await
                .out
        };
        assert_eq!(ask(Pid(1)).await, "hello\n");
        assert_eq!(ask(Pid(2)).await, "nobody\n");
        assert!(std::net::TcpStream::connect("127.0.0.1:34567").is_err());
        procs.stop_session(Pid(1), 0);
        procs.session_gone(Pid(1)).await;
        assert!(server.events.next().now_or_never().is_some());
        assert_eq!(ask(Pid(1)).await, "nobody\n");
    }
}

#[tokio::test]
async fn commands_of_an_ordinary_user_share_the_namespace() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Ordinary)
    {
        let done = room.sh_twice(SERVER, CLIENT);
        assert!(done.out.ends_with("hello\n"), "{done:?}");
    }
}

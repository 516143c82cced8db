//! One request to the program, as a page's form sends it. HTTP/1.0, so that the response ends with the connection.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::patience::PATIENCE;

/// Sends `what`, such as `GET /clusters`. Cookie and body may be empty. Returns head and body of the response.
pub(crate) async fn send(address: SocketAddr, what: &str, cookie: &str, body: &str) -> (String, String) {
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.0\r\nhost: {address}\r\norigin: http://{address}\r\ncookie: {cookie}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.map(|_| answer)
    };
    let answer = timeout(PATIENCE, exchange).await.expect("an answer in time").expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

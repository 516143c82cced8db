//! Forms without JavaScript.

use axum::extract::Request;
use form_urlencoded::Serializer;
use http::{StatusCode, header};

use crate::world::{Got, ORIGIN, World};

async fn post(fields: &[(&str, &str)]) -> Got {
    let world = World::new();
    let cookie = world.sign_in().await;
    let body = Serializer::new(String::new()).extend_pairs(fields).finish();
    world.post("/clusters/prod?tab=inventory", &cookie, body).await
}

#[tokio::test]
async fn a_mutation_redirects_where_its_function_says() {
    let got = post(&[("form", "save"), ("text", "all:")]).await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/clusters/ann"));
}

#[tokio::test]
async fn a_refused_form_comes_back_with_everything_that_was_typed() {
    let text = "ä <b>& %41+ line\r\n".repeat(12_000);
    assert!(text.len() > 200_000);
    let got = post(&[("form", "break"), ("name", "prod"), ("text", &text), ("tags", "a"), ("tags", "b")]).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(got.text.starts_with("GET /clusters/prod?tab=inventory\n"), "another page was rendered");
    assert!(got.text.contains("refused break: line 3 is not YAML"));
    assert!(got.text.contains(&format!("name=prod\ntext={text}\ntags=a\ntags=b\n")), "a field was lost");
}

#[tokio::test]
async fn a_review_shows_its_answer_on_the_same_page() {
    let got = post(&[("form", "save"), ("text", "all:"), ("form", "review")]).await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(
        got.text.contains(r#"answered review: {"bytes":"#),
        "the button must take precedence over the hidden field: {got:?}"
    );
    assert!(got.text.contains(r#"[("text", "all:")]"#), "{got:?}");
}

#[tokio::test]
async fn two_megabytes_of_non_latin_text_reach_the_function() {
    let text = "ж".repeat(1024 * 1024 - 100);
    let got = post(&[("form", "review"), ("text", &text)]).await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(got.text.contains(&format!(r#"{{"bytes":{}}}"#, text.len() * 3 + "text=".len())));
}

#[tokio::test]
async fn ten_megabytes_are_refused_at_the_field_and_kept() {
    let text = "x".repeat(10 * 1024 * 1024);
    let got = post(&[("form", "save"), ("name", "prod"), ("text", &text)]).await;
    assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(got.text.contains("This is 10 MiB; a form may have at most 2 MiB. Nothing was changed."));
    assert!(got.text.contains(&text), "the typed text is lost");
}

#[tokio::test]
async fn a_form_without_a_function_is_refused_and_changes_nothing() {
    for form in ["", "../live", "save?x", "Save", "a b"] {
        let got = post(&[("form", form), ("text", "kept")]).await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST, "{form:?}");
        assert!(got.text.contains("text=kept"), "{got:?}");
    }
}

#[tokio::test]
async fn a_file_is_used_like_typed_text_and_binary_is_refused() {
    let world = World::new();
    let cookie = world.sign_in().await;
    let send = async |content: &[u8]| {
        let mut body = b"--X\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\nreview\r\n".to_vec();
        body.extend(b"--X\r\nContent-Disposition: form-data; name=\"key\"; filename=\"id\"\r\n\r\n");
        body.extend(content);
        body.extend(b"\r\n--X--\r\n");
        let request = Request::post("/clusters").header(header::COOKIE, &cookie).header(header::ORIGIN, ORIGIN);
        world.send(request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=X"), body).await
    };
    assert!(send(b"SECRET").await.text.contains(r#"{"bytes":10}"#), "key=SECRET");
    let binary = send(b"\x7fELF\xff\xfe").await;
    assert_eq!(binary.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(binary.text.contains("not UTF-8"), "{binary:?}");
}

#[tokio::test]
async fn a_form_posted_to_an_unknown_page_is_not_found() {
    let world = World::new();
    let cookie = world.sign_in().await;
    assert_eq!(world.post("/nowhere", &cookie, "form=save").await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.post("/", &cookie, "form=save").await.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(world.get("/nowhere", &cookie).await.status, StatusCode::NOT_FOUND);
}

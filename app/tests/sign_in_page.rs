//! The sign-in page.

mod fake;

use fake::{Fake, page_with};
use kubeonkube_app::login::{LoginMode, LoginPage};
use leptos::prelude::provide_context;

async fn signing_in(path: &str, mode: LoginMode, problem: Option<&'static str>) -> fake::Page {
    page_with(&Fake::default(), path, move || {
        provide_context(LoginPage { mode: mode.clone(), problem: problem.map(str::to_owned) });
    })
    .await
}

#[tokio::test]
async fn a_good_link_shows_a_button_that_posts_its_token() {
    signing_in("/login?next=%2Fclusters%2Fa", LoginMode::Link { valid: Some("one-time".into()) }, None)
        .await
        .shows("action=\"/login\"")
        .shows("name=\"token\" value=\"one-time\"")
        .shows("name=\"next\" value=\"/clusters/a\"");
}

#[tokio::test]
async fn without_a_link_it_says_how_to_get_one() {
    let page = signing_in("/login", LoginMode::Link { valid: None }, Some("This link was used already.")).await;
    page.shows("kubeonkube login").shows("This link was used already.").hides("name=\"token\"");
}

#[tokio::test]
async fn in_a_cluster_it_asks_for_a_token_and_says_how_to_get_one() {
    signing_in("/login", LoginMode::Token, None).await.shows("type=\"password\"").shows("kubectl create token");
}

#[tokio::test]
async fn another_origin_is_no_place_to_go_next() {
    for next in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example"] {
        let page = signing_in(&format!("/login?next={next}"), LoginMode::Token, None).await;
        page.shows("name=\"next\" value=\"\"").hides("value=\"//evil").hides("value=\"https://evil");
    }
}

//! The sign-in page.

mod fake;

use fake::{Fake, page_with};
use kubeonkube_app::login::{HeldForm, LoginMode, LoginPage};
use leptos::prelude::provide_context;

async fn signing_in(next: &'static str, mode: LoginMode, problem: Option<&'static str>) -> fake::Page {
    page_with(&Fake::default(), "/login", move || {
        provide_context(LoginPage {
            mode: mode.clone(),
            problem: problem.map(str::to_owned),
            next: next.into(),
            provider: None,
        });
    })
    .await
}

#[tokio::test]
async fn a_valid_link_shows_a_button_that_posts_its_token() {
    signing_in("/clusters/a", LoginMode::Link { valid: Some("one-time".into()), command: String::new() }, None)
        .await
        .shows("action=\"/login\"")
        .shows("name=\"token\" value=\"one-time\"")
        .shows("name=\"next\" value=\"/clusters/a\"");
}

#[tokio::test]
async fn without_a_link_the_page_explains_how_to_get_one() {
    let page = signing_in(
        "",
        LoginMode::Link { valid: None, command: "kubeonkube login --data-dir /srv/kok".into() },
        Some("This link was used already."),
    )
    .await;
    page.shows("kubeonkube login --data-dir /srv/kok").shows("This link was used already.").hides("name=\"token\"");
}

#[tokio::test]
async fn in_a_cluster_the_page_explains_how_to_get_a_token() {
    signing_in("", LoginMode::Token, None).await.shows("type=\"password\"").shows("kubectl create token");
}

#[tokio::test]
async fn signing_in_never_redirects_to_another_origin() {
    for next in ["https://evil.example", "//evil.example", "/\\evil.example"] {
        let page = signing_in(next, LoginMode::Token, None).await;
        page.shows("name=\"next\" value=\"\"").hides("value=\"//evil").hides("value=\"https://evil");
    }
}

#[tokio::test]
async fn a_form_sent_after_session_end_keeps_all_but_secrets() {
    let fields = [("form", "review_cluster"), ("pasted", "n1 <1>\nn2"), ("name", ""), ("ssh_key", "KEY-MATERIAL")];
    let fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let held = HeldForm { action: "/clusters/_new?a=b".into(), fields };
    let page = page_with(&Fake::default(), "/login", move || provide_context(held.clone())).await;
    page.shows("action=\"/clusters/_new?a=b\"")
        .shows("name=\"form\" value=\"review_cluster\"")
        .shows("name=\"pasted\" value=\"n1 &lt;1&gt;\nn2\"")
        .shows("name=\"name\" value=\"\"")
        .shows("The SSH key is not kept")
        .hides("KEY-MATERIAL")
        .hides("hydrate()");
}

#[tokio::test]
async fn the_provider_comes_before_the_form_for_tokens() {
    let page = page_with(&Fake::default(), "/login", || {
        let provider = Some("Example <ID>".into());
        provide_context(LoginPage { mode: LoginMode::Token, problem: None, next: "/clusters?q=a&b".into(), provider });
    })
    .await;
    page.shows("href=\"/login/oidc?next=%2Fclusters%3Fq%3Da%26b\"")
        .shows("Sign in with Example &lt;ID&gt;")
        .shows("type=\"password\"");
    signing_in("", LoginMode::Token, None).await.hides("/login/oidc");
}

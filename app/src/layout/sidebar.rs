//! The sidebar: 232 px wide, 56 px when collapsed, and a top bar on small screens.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::functions::Frame;
use crate::form::endpoint;
use crate::json::Data;
use crate::live::closing_for_sign_out;
use crate::preferences::{PreferenceForm, SetSidebar, SetTheme, Theming, keep_in_browser, keep_theme};
use crate::ui::{Icon, dynamic, icon, when_known};
use crate::{Theme, routes};

#[component]
pub(super) fn Sidebar(frame: Data<Frame>, narrow: RwSignal<bool>) -> impl IntoView {
    let close = closing_for_sign_out();
    let count = move |of: fn(&Frame) -> u32| {
        let number = when_known(frame, move |frame| {
            frame.ok().map(|f| of(&f)).filter(|n| *n > 0).map(|n| view! { <span class="count">{n}</span> })
        });
        view! { <Transition>{number}</Transition> }
    };
    let running = when_known(frame, |frame| frame.ok().map(|f| view! { <RunningNow frame=f/> }));
    let who = when_known(frame, |frame| {
        frame.ok().map(|f| {
            let short = f.mode.split(':').next().unwrap_or_default().to_owned();
            view! {
                <p class="who" title=f.mode>
                    <b>{f.user}</b>
                    <span>{short}</span>
                </p>
            }
        })
    });
    view! {
        <aside class="side">
            <a class="brand" href=routes::HOME>{icon(Icon::Logo)} <span>"kubeonkube"</span></a>
            <nav class="nav" aria-label="Main">
                <NavLink href=routes::CLUSTERS icon=Icon::Clusters word="Clusters">{count(|f| f.totals.all)}</NavLink>
                <NavLink href=routes::OPERATIONS icon=Icon::Operations word="Operations">
                    {count(|f| f.totals.running)}
                </NavLink>
                <NavLink href=routes::SETTINGS icon=Icon::Settings word="Settings">""</NavLink>
                <Transition>{running}</Transition>
            </nav>
            <div class="side-foot">
                <Transition>{who}</Transition>
                <div class="side-tools">
                    <ThemeSwitch/>
                    <SidebarSwitch narrow/>
                    <form method="post" action=routes::LOGOUT on:submit=move |_| close()>
                        <button class="tool" type="submit" title="Sign out">
                            {icon(Icon::SignOut)} <span class="sr">"Sign out"</span>
                        </button>
                    </form>
                </div>
            </div>
        </aside>
    }
}

#[component]
fn NavLink(href: &'static str, icon: Icon, word: &'static str, children: Children) -> impl IntoView {
    let path = use_location().pathname;
    let current = move || (path.get() == href || path.get().starts_with(&format!("{href}/"))).then_some("page");
    view! {
        <a href=href aria-current=current title=word>
            {crate::ui::icon(icon)} <span class="word">{word}</span> {children()}
        </a>
    }
}

/// Links to up to five running operations.
#[component]
fn RunningNow(frame: Frame) -> impl IntoView {
    (!frame.running.is_empty()).then(|| {
        view! {
            <div class="running-now">
                <h2>"Running now"</h2>
                {frame
                    .running
                    .into_iter()
                    .map(|row| {
                        let words = format!("{} · {}", row.cluster, row.title());
                        view! {
                            <a href=routes::operation(&row.name) title=words>
                                {icon(Icon::Running)} <span class="word">{words.clone()}</span>
                            </a>
                        }
                    })
                    .collect_view()}
            </div>
        }
    })
}

/// A button that cycles through system, light and dark.
#[component]
fn ThemeSwitch() -> impl IntoView {
    let theme = expect_context::<Theming>().0;
    let next = move || match theme.get() {
        Theme::System => Theme::Light,
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::System,
    };
    let drawing = move || match theme.get() {
        Theme::System => Icon::System,
        Theme::Light => Icon::Sun,
        Theme::Dark => Icon::Moon,
    };
    let words = move || format!("Theme: {}. Switch to {}.", theme.get().word(), next().word());
    let apply = move |event: SubmitEvent| {
        event.prevent_default();
        keep_theme(theme, next());
    };
    view! {
        <PreferenceForm function={endpoint::<SetTheme>()} apply=Callback::new(apply)>
            <button class="tool" type="submit" name="theme" value=move || next().as_str() title=words>
                {dynamic(move || icon(drawing()))} <span class="sr">{words}</span>
            </button>
        </PreferenceForm>
    }
}

#[component]
fn SidebarSwitch(narrow: RwSignal<bool>) -> impl IntoView {
    let next = move || if narrow.get() { "wide" } else { "narrow" };
    let words = move || if narrow.get() { "Expand sidebar" } else { "Collapse sidebar" };
    let apply = move |event: SubmitEvent| {
        event.prevent_default();
        keep_in_browser("sidebar", next());
        narrow.update(|narrow| *narrow = !*narrow);
    };
    view! {
        <PreferenceForm class="side-switch" function={endpoint::<SetSidebar>()} apply=Callback::new(apply)>
            <button class="tool" type="submit" name="sidebar" value=next title=words>
                {icon(Icon::Sidebar)} <span class="sr">{words}</span>
            </button>
        </PreferenceForm>
    }
}

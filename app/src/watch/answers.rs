//! The answers of a target, second by second, as a strip.

use api::availability::{Answer, Answers, Outage, Target};
use api::{Time, duration};
use leptos::prelude::*;

use crate::ui::{Status, Tone};
use crate::words::{count, thousands};

/// How many units of the drawing a second is wide. A span without an answer is at least as many units wide as the strip has seconds,
/// which is this part of the strip: one second of an hour would be invisible. (Whole numbers, because the code that writes fractions
/// is large.)
const UNITS: u64 = 250;
/// The height of the drawing, in its own units. The style sheet decides how large it is.
const HEIGHT: u8 = 1;

#[component]
pub(super) fn AnswersView(
    answers: Answers,
    /// Whether requests are still being made.
    is_running: bool,
) -> impl IntoView {
    let (label, is_address) = match &answers.target {
        Target::Api => ("Kubernetes API".to_owned(), false),
        Target::Service(url) => (url.clone(), true),
    };
    let (summary, tone) = summary(&answers);
    let whole: u32 = answers.spans.iter().map(|span| span.seconds).sum();
    let end = if is_running { "now" } else { "end" };
    let outages = answers.outages.iter().map(|outage| {
        let text = outage_words(outage, answers.start);
        view! { <li title=outage.start.utc()>{text}</li> }
    });
    let outages = (!answers.outages.is_empty()).then(|| view! { <ul class="outages">{outages.collect_view()}</ul> });
    view! {
        <div class="answers">
            <p class="bar">
                <strong class:mono=is_address>{label.clone()}</strong>
                <Status tone word=summary.clone()/>
            </p>
            <Strip answers=answers.clone() label=format!("{label}: {summary}")/>
            <p class="muted scale">
                <span>"start"</span>
                <span>{format!("one request per second, {}", duration(i64::from(whole) * 1000))}</span>
                <span>{end}</span>
            </p>
            {outages} {answers.unasked.map(|why| view! { <p class="muted">{format!("Not requested now. {why}")}</p> })}
        </div>
    }
}

/// `1,204 of 1,219 requests answered · 2 outages, the longest 15 s`, and the tone of that.
fn summary(answers: &Answers) -> (String, Tone) {
    let (asked, answered) = answers.counts();
    let all = format!("{} of {} answered", thousands(answered), count(asked, "request", "requests"));
    match answers.outages() {
        (0, _) => (all, Tone::Ok),
        (1, longest) => (format!("{all} · 1 outage, {}", duration(i64::from(longest) * 1000)), Tone::Warn),
        (n, longest) => {
            (format!("{all} · {n} outages, the longest {}", duration(i64::from(longest) * 1000)), Tone::Warn)
        }
    }
}

/// `After 3 min 12 s, requests failed for 15 s. 10.0.0.7:6443 can't be reached: connection refused.`
fn outage_words(outage: &Outage, start: Time) -> String {
    let after = start.until(outage.start);
    format!("After {after}, requests failed for {}. {}", duration(i64::from(outage.seconds) * 1000), outage.why)
}

/// A drawing. It is an SVG because the content security policy allows no style attributes.
#[component]
fn Strip(answers: Answers, label: String) -> impl IntoView {
    let seconds: u64 = answers.spans.iter().map(|span| u64::from(span.seconds)).sum::<u64>().max(1);
    let (whole, narrowest) = (seconds * UNITS, seconds);
    let mut from = 0;
    let spans: Vec<_> = answers
        .spans
        .iter()
        .map(|span| {
            let at = from;
            from += u64::from(span.seconds) * UNITS;
            (at, *span)
        })
        .collect();
    // Those without an answer come last, so that they cover their neighbours.
    let of = |answer: Answer, class: &'static str| {
        let spans = spans.iter().filter(move |(_, span)| span.answer == answer);
        spans.map(move |(at, span)| {
            let width = u64::from(span.seconds) * UNITS;
            let width = if answer == Answer::No { width.max(narrowest) } else { width };
            // Within the drawing, also at its end.
            let x = (*at).min(whole - width);
            view! { <rect class=class x=x y="0" width=width height=HEIGHT></rect> }
        })
    };
    let rects = of(Answer::Yes, "r-ok").chain(of(Answer::No, "r-failed")).collect_view();
    view! {
        <svg class="strip" viewBox=format!("0 0 {whole} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
            {rects}
        </svg>
    }
}

#[cfg(test)]
mod tests {
    use api::availability::Span;

    use super::*;

    fn answers(spans: &[(u32, Answer)], outages: Vec<Outage>) -> Answers {
        let spans = spans.iter().map(|(seconds, answer)| Span { seconds: *seconds, answer: *answer }).collect();
        Answers { target: Target::Api, start: Time(0), spans, outages, unasked: None }
    }

    #[test]
    fn the_summary_counts_requests_and_outages() {
        let words = |spans: &[(u32, Answer)]| summary(&answers(spans, vec![])).0;
        assert_eq!(words(&[(1219, Answer::Yes)]), "1,219 of 1,219 requests answered");
        assert_eq!(words(&[(1, Answer::Yes)]), "1 of 1 request answered");
        let twice = [(100, Answer::Yes), (15, Answer::No), (9, Answer::Unasked), (5, Answer::No), (80, Answer::Yes)];
        assert_eq!(words(&twice), "180 of 200 requests answered · 2 outages, the longest 15 s");
        assert_eq!(words(&twice[..2]), "100 of 115 requests answered · 1 outage, 15 s");
    }

    #[test]
    fn an_outage_is_told_by_the_time_since_the_start() {
        let outage = Outage { start: Time(192_000), seconds: 15, why: "It answers 503.".into() };
        assert_eq!(outage_words(&outage, Time(0)), "After 3 min 12 s, requests failed for 15 s. It answers 503.");
    }
}

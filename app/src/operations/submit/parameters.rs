//! Fields for the parameters of actions, as the catalogue describes them.

use api::operation::{ActionOffer, Draft, ParameterOffer};
use leptos::prelude::*;

use crate::form::Field;

/// The parameters of all offers. Actions that share a parameter share its field.
pub(super) fn distinct(offers: &[ActionOffer]) -> Vec<ParameterOffer> {
    let mut all: Vec<ParameterOffer> = Vec::new();
    for parameter in offers.iter().flat_map(|offer| &offer.parameters) {
        if all.iter().all(|known| known.field != parameter.field) {
            all.push(parameter.clone());
        }
    }
    all
}

/// The positions of an offer's parameters in `all`, counted from 1, for the attribute `data-asks` of its card: `1 3`.
pub(super) fn numbers(offer: &ActionOffer, all: &[ParameterOffer]) -> String {
    let is_of_offer = |known: &ParameterOffer| offer.parameters.iter().any(|parameter| parameter.field == known.field);
    let numbered = all.iter().zip(1..).filter(|(known, _)| is_of_offer(known));
    numbered.map(|(_, number): (_, u8)| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// One field per parameter. CSS shows those whose number is in `data-asks` of the chosen card, so it works without JavaScript.
#[component]
pub(super) fn Parameters(all: Vec<ParameterOffer>, draft: Draft) -> impl IntoView {
    all.into_iter()
        .zip(1_u8..)
        .map(|(parameter, number)| {
            let ParameterOffer { field, label, placeholder, hint } = parameter;
            let value = draft.get(&field).to_owned();
            view! {
                <div class="asked" data-asked=number.to_string()>
                    <Field name=field label value mono=true placeholder hint/>
                </div>
            }
        })
        .collect_view()
}

#[cfg(test)]
mod tests {
    use api::operation::Effect;

    use super::*;

    fn offer(fields: &[&str]) -> ActionOffer {
        let parameter = |field: &&str| ParameterOffer {
            field: (*field).into(),
            label: String::new(),
            placeholder: String::new(),
            hint: String::new(),
        };
        ActionOffer {
            action: String::new(),
            title: String::new(),
            summary: String::new(),
            effect: Effect::Changes,
            parameters: fields.iter().map(parameter).collect(),
            unavailable: None,
        }
    }

    #[test]
    fn actions_that_share_a_parameter_share_its_number() {
        let offers = [offer(&["version"]), offer(&[]), offer(&["nodes", "version"])];
        let all = distinct(&offers);
        assert_eq!(all.iter().map(|parameter| parameter.field.as_str()).collect::<Vec<_>>(), ["version", "nodes"]);
        assert_eq!(offers.map(|offer| numbers(&offer, &all)), ["1", "", "1 2"]);
    }
}

//! The steps of a replacement. Each can be repeated, for example after its answer was lost.

use api::configuration::{KeyChange, NewKey};
use api::{ClusterName, OperationName, Problem, User};
use crd::Cluster;
use kube::{Client, ResourceExt};

use super::stored::{Keys, Slot};
use super::test;
use crate::Console;
use crate::configuration::Inputs;
use crate::ssh::{self, KeyPair};

impl Console {
    /// Carries out one step. Returns the operation that tests the key, for [`KeyChange::Test`].
    pub(crate) async fn take_key_step(
        &self,
        user: &User,
        name: &ClusterName,
        change: &KeyChange,
    ) -> Result<Option<OperationName>, Problem> {
        let cluster = self.cluster(user, name).await?;
        let client = self.shared.access.client(user)?;
        let Some(at) = &cluster.spec.ssh_auth_ref else {
            return Err(refused(
                "This cluster has no private key. Create a Secret with the key ssh-privatekey, and name it in sshAuthRef of the Cluster.",
            ));
        };
        let keys = Keys::read(client.clone(), at).await?;
        let step = Step { console: self, cluster: &cluster, client, keys };
        match change {
            KeyChange::Store(new) => step.store(new).await?,
            KeyChange::Test { id } => return step.test(user, id).await.map(Some),
            KeyChange::Use { id, untested } => step.take_next(id, *untested).await?,
            KeyChange::Discard { id } => step.discard(id).await?,
            KeyChange::GoBack { id } => step.go_back(id).await?,
            KeyChange::Forget { id } => step.forget(id).await?,
        }
        Ok(None)
    }
}

/// A step, with the keys as they were read for it.
struct Step<'a> {
    console: &'a Console,
    cluster: &'a Cluster,
    client: Client,
    keys: Keys,
}

impl Step<'_> {
    async fn write(&self, slots: &[(Slot, Option<KeyPair>)]) -> Result<(), Problem> {
        self.keys.write(self.client.clone(), self.cluster, slots).await
    }

    /// Stores a new key beside the current one. If no current key works, there is nothing to lose, and the new one is used at once.
    async fn store(&self, new: &NewKey) -> Result<(), Problem> {
        let pair = match new {
            NewKey::Generate => ssh::generate(&format!("kubeonkube {}", self.cluster.name_any())).map_err(|error| {
                tracing::error!(%error, "can't generate an SSH key");
                Problem::Internal
            })?,
            NewKey::Given(text) => ssh::pasted(text).map_err(|why| Problem::field("ssh_key", why))?,
        };
        let id = crd::ssh_key_id(pair.private.as_bytes());
        match self.keys.usable() {
            Err(_) => return self.write(&[(Slot::Current, Some(pair))]).await,
            Ok(current) if current.private == pair.private => {
                return Err(Problem::field("ssh_key", "This key is in use already. Enter another one."));
            }
            Ok(_) => {}
        }
        match self.keys.id(Slot::Next) {
            Some(stored) if stored == id => Ok(()),
            Some(_) => Err(refused("Another new key is stored already. Reload the page to see it.")),
            None => self.write(&[(Slot::Next, Some(pair))]).await,
        }
    }

    /// Submits the operation that tests the new key, unless one is queued or running.
    async fn test(&self, user: &User, id: &str) -> Result<OperationName, Problem> {
        self.next(id)?;
        if let Some(open) = self.newest_test(id).filter(test::is_open) {
            return open.name_any().parse().map_err(|_| Problem::Internal);
        }
        let inputs = Inputs::read(self.client.clone(), self.cluster).await?;
        let unusable = |why: String| refused(format!("The test can't start. {why}"));
        let hosts = inputs.hosts.usable().map_err(unusable)?;
        let vars = inputs.vars.usable().map_err(unusable)?;
        let spec = test::operation_spec(&self.cluster.name_any(), id, &self.console.shared.image);
        self.console.submit_key_test(user, &spec, crd::inputs_sha256(hosts, vars)).await
    }

    /// Makes the new key the current one, and the current one the previous.
    async fn take_next(&self, id: &str, untested: bool) -> Result<(), Problem> {
        if self.keys.id(Slot::Current).as_deref() == Some(id) {
            return Ok(());
        }
        let next = self.next(id)?;
        let test = self.no_open_test(id)?;
        if !untested && !test.as_ref().is_some_and(test::has_passed) {
            let message =
                "No test of this key has succeeded. Test it first, or confirm that you want to use it anyway.";
            return Err(Problem::field("untested", message));
        }
        let slots = [(Slot::Previous, self.keys.pair(Slot::Current)), (Slot::Current, Some(next)), (Slot::Next, None)];
        self.write(&slots).await
    }

    async fn discard(&self, id: &str) -> Result<(), Problem> {
        if self.keys.id(Slot::Next).is_none() {
            return Ok(());
        }
        self.next(id)?;
        self.no_open_test(id)?;
        self.write(&[(Slot::Next, None)]).await
    }

    /// Exchanges the previous and the current key.
    async fn go_back(&self, id: &str) -> Result<(), Problem> {
        if self.keys.id(Slot::Current).as_deref() == Some(id) {
            return Ok(());
        }
        let previous = self.keys.pair(Slot::Previous).filter(|_| self.keys.id(Slot::Previous).as_deref() == Some(id));
        let previous = previous.ok_or_else(changed)?;
        self.write(&[(Slot::Previous, self.keys.pair(Slot::Current)), (Slot::Current, Some(previous))]).await
    }

    async fn forget(&self, id: &str) -> Result<(), Problem> {
        match self.keys.id(Slot::Previous) {
            None => Ok(()),
            Some(stored) if stored == id => self.write(&[(Slot::Previous, None)]).await,
            Some(_) => Err(changed()),
        }
    }

    /// The new key, if it is the one that the user saw.
    fn next(&self, id: &str) -> Result<KeyPair, Problem> {
        let is_it = self.keys.id(Slot::Next).as_deref() == Some(id);
        self.keys.pair(Slot::Next).filter(|_| is_it).ok_or_else(changed)
    }

    fn newest_test(&self, id: &str) -> Option<crd::ClusterOperation> {
        test::newest(&self.console.shared.operations.state(), &self.cluster.name_any(), id).cloned()
    }

    /// The newest test of this key. An error if that has not ended, because its run may still have to read the key.
    fn no_open_test(&self, id: &str) -> Result<Option<crd::ClusterOperation>, Problem> {
        match self.newest_test(id) {
            Some(open) if test::is_open(&open) => Err(refused(format!(
                "The test {} of this key has not ended. Wait until it ends or cancel it, then try again.",
                open.name_any()
            ))),
            ended => Ok(ended),
        }
    }
}

fn changed() -> Problem {
    refused("The keys of this cluster were changed after you opened the page. Nothing was done. Reload the page.")
}

fn refused(message: impl Into<String>) -> Problem {
    Problem::Invalid { message: message.into(), fields: Vec::new() }
}

//! A gRPC service whose calls are checked before they reach it, and the check of the token.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;
use tower::Service;

use crate::auth::HEADER;
use crate::refusals::CallRefusal;
use crate::server_auth::ServerAuth;

/// What a call must pass before its service sees it. Not an interceptor of tonic: a check may have to wait, or read the
/// call.
pub trait CallCheck: Clone + Send + 'static {
    /// Returns the call as the service gets it.
    ///
    /// # Errors
    /// The status that the caller is answered with; the service does not see the call.
    fn check(self, request: Request<Body>) -> impl Future<Output = Result<Request<Body>, Status>> + Send;
}

/// A service of which only calls that pass a check reach the inner one.
#[derive(Debug, Clone)]
pub struct CallGuard<S, C> {
    inner: S,
    check: C,
}

impl<S, C> CallGuard<S, C> {
    /// Guards a service.
    pub const fn new(inner: S, check: C) -> Self {
        Self { inner, check }
    }
}

impl<S: NamedService, C> NamedService for CallGuard<S, C> {
    const NAME: &'static str = S::NAME;
}

impl<S, C> Service<Request<Body>> for CallGuard<S, C>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    C: CallCheck,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // The inner service that is ready is the one to call.
        let fresh = self.inner.clone();
        let (mut inner, check) = (std::mem::replace(&mut self.inner, fresh), self.check.clone());
        Box::pin(async move {
            match check.check(request).await {
                Ok(request) => inner.call(request).await,
                Err(status) => Ok(status.into_http()),
            }
        })
    }
}

/// Only calls with a token pass; they carry its role ([`crate::auth::Role::of`]). An answer to a wrong token may have to
/// wait.
impl CallCheck for ServerAuth {
    async fn check(self, mut request: Request<Body>) -> Result<Request<Body>, Status> {
        let shown = request.headers().get(HEADER).map(|value| value.as_bytes());
        let role = self.authorize(shown, request.extensions().get()).await.map_err(refusal)?;
        request.extensions_mut().insert(role);
        Ok(request)
    }
}

fn refusal(problem: CallRefusal) -> Status {
    Status::unauthenticated(format!("{problem}; give the worker the learner's token (token_file)"))
}

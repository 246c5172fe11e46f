//! Asks each call of a gRPC service for the token, before anything of the call is read.

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

/// A service of which only calls with the token reach the inner one; they carry their role
/// ([`crate::auth::Role::of`]). Not an interceptor of tonic: an answer to a wrong token may have to wait.
#[derive(Debug, Clone)]
pub struct TokenGuard<S> {
    inner: S,
    auth: ServerAuth,
}

impl<S> TokenGuard<S> {
    /// Guards a service.
    pub const fn new(inner: S, auth: ServerAuth) -> Self {
        Self { inner, auth }
    }
}

impl<S: NamedService> NamedService for TokenGuard<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for TokenGuard<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        // The inner service that is ready is the one to call.
        let fresh = self.inner.clone();
        let (mut inner, auth) = (std::mem::replace(&mut self.inner, fresh), self.auth.clone());
        Box::pin(async move {
            let shown = request.headers().get(HEADER).map(|value| value.as_bytes());
            match auth.check(shown, request.extensions().get()).await {
                Ok(role) => {
                    request.extensions_mut().insert(role);
                    inner.call(request).await
                }
                Err(problem) => Ok(refusal(problem).into_http()),
            }
        })
    }
}

fn refusal(problem: CallRefusal) -> Status {
    Status::unauthenticated(format!("{problem}; give the worker the learner's token (token_file)"))
}

//! Which address shows what, and what every answer has in common: who may see it, how long it may take, and what a
//! browser may do with it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use runtime::connections::ConnectionInfo;
use shared::ids::GameId;

use super::Page;
use super::access::Refusal;
use super::answer::{Answer, Json, PageError};
use super::assets::{ASSETS, LOGIN};
use super::elo::{EloAnswer, read_elo};
use super::game::{GameAnswer, read_game};
use super::games::{self, GAME_COUNT_MAX, GamePage, filter_of, read_games};
use super::iterations::{IterationPage, LINE_COUNT_MAX, read_iterations};
use super::overview::{Overview, overview};
use super::position::{self, PositionAnswer};
use super::query::Query;
use super::series::{POINT_COUNT, POINT_COUNT_MAX, SeriesAnswer, read_series};

/// Longest form that is read, in bytes: a token has at most 4,096 characters.
const FORM_BYTES_MAX: usize = 16 << 10;
/// How long an answer may take, its wait for a turn included.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// Scripts and styles from this address alone, nothing inline, nothing from elsewhere, no frame around it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

type Shared = State<Arc<Page>>;

/// Returns everything that the page serves.
pub fn router(page: Arc<Page>) -> Router {
    let mut router = Router::new()
        .route("/api/overview", get(show_overview))
        .route("/api/iterations", get(iterations))
        .route("/api/series", get(series))
        .route("/api/elo", get(elo))
        .route("/api/games", get(list_games))
        .route("/api/games/{game_id}", get(one_game))
        .route("/api/position", get(one_position))
        .route("/login", post(log_in).get(|headers: HeaderMap| async move { LOGIN.response(&headers) }));
    for asset in &ASSETS {
        router = router.route(asset.path, get(move |headers: HeaderMap| async move { asset.response(&headers) }));
    }
    router
        .fallback(|uri: Uri| async move { PageError::NotFound(format!("there is nothing at {}", uri.path())) })
        .layer(from_fn_with_state(Arc::clone(&page), guard))
        .with_state(page)
}

async fn show_overview(State(page): Shared) -> Answer<Overview> {
    overview(&page).await
}

async fn iterations(State(page): Shared, uri: Uri) -> Answer<IterationPage> {
    let query = Query::of(&uri, &["before", "limit"])?;
    let (before, limit) = (query.value("before")?, query.count("limit", 50, LINE_COUNT_MAX)?);
    let scores = Arc::clone(&page.gate_scores);
    page.source.read(move |reader| read_iterations(reader, &scores, before, limit)).await.map(Json)
}

async fn series(State(page): Shared, uri: Uri) -> Answer<SeriesAnswer> {
    let query = Query::of(&uri, &["names", "points"])?;
    let points = query.count("points", POINT_COUNT, POINT_COUNT_MAX)? as usize;
    let names = query.text("names").unwrap_or_default().to_owned();
    let known = Arc::clone(&page.metrics);
    page.source.read(move |reader| read_series(reader, &known, &names, points)).await.map(Json)
}

async fn elo(State(page): Shared, uri: Uri) -> Answer<EloAnswer> {
    let query = Query::of(&uri, &["points"])?;
    let points = query.count("points", POINT_COUNT, POINT_COUNT_MAX)? as usize;
    let scores = Arc::clone(&page.gate_scores);
    page.source.read(move |reader| read_elo(reader, &scores, points)).await.map(Json)
}

async fn list_games(State(page): Shared, uri: Uri) -> Answer<GamePage> {
    let query = Query::of(&uri, &games::KEYS)?;
    let (filter, limit) = (filter_of(&query)?, query.count("limit", 50, GAME_COUNT_MAX)?);
    page.source.read(move |reader| read_games(reader, &filter, limit)).await.map(Json)
}

async fn one_game(State(page): Shared, Path(game_id): Path<String>) -> Answer<GameAnswer> {
    let game_id = game_id.parse().map_err(|_| PageError::NotFound(format!("there is no game {game_id:?}")))?;
    let game = page.game.clone();
    page.source.read(move |reader| read_game(reader, &game, GameId::new(game_id))).await.map(Json)
}

async fn one_position(State(page): Shared, uri: Uri) -> Answer<PositionAnswer> {
    position::position(&page, &Query::of(&uri, &position::KEYS)?).await
}

/// Takes the token from the form.
async fn log_in(State(page): Shared, request: Request) -> Response {
    let visitor = visitor_of(&request);
    let Ok(form) = to_bytes(request.into_body(), FORM_BYTES_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let shown = form_urlencoded::parse(&form).find(|(key, _)| key == "token");
    welcome(&page, &shown.map(|(_, token)| token.into_owned()).unwrap_or_default(), visitor.as_ref()).await
}

/// Sets the cookie if the token is right. The browser goes on to the page by a refresh and not by a redirect: the cookie
/// is for requests that come from this page alone, which a redirect after a link from elsewhere is not.
async fn welcome(page: &Page, token: &str, visitor: Option<&ConnectionInfo>) -> Response {
    match page.access.log_in(token, visitor).await {
        Ok(cookie) => {
            let body = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=/\"><title>Alveare</title>";
            let mut response = Response::new(Body::from(body));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
                headers.insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(refusal) => refused("/", &HeaderMap::new(), refusal),
    }
}

/// Lets in who may see the page, ends what takes too long, and tells the browser what it may do.
async fn guard(State(page): Shared, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let is_public = path == LOGIN.path || ASSETS.iter().any(|asset| asset.is_public && asset.path == path);
    let visitor = visitor_of(&request);
    let mut response = match page.access.check(request.headers(), visitor.as_ref()).await {
        Err(Refusal::ForeignHost) => refused(&path, request.headers(), Refusal::ForeignHost),
        Err(refusal) if !is_public => match token_of(request.uri()).filter(|_| path == "/") {
            Some(token) => welcome(&page, &token, visitor.as_ref()).await,
            None => refused(&path, request.headers(), refusal),
        },
        _ => match tokio::time::timeout(ANSWER_TIME_MAX, next.run(request)).await {
            Ok(response) => response,
            Err(_) => PageError::Busy("the answer took too long").into_response(),
        },
    };
    let rules = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    response.headers_mut().extend(rules.map(|(name, rule)| (name, HeaderValue::from_static(rule))));
    response
}

/// Shows the form to a browser, and says to a program what is missing.
fn refused(path: &str, headers: &HeaderMap, refusal: Refusal) -> Response {
    if path != "/" || refusal == Refusal::ForeignHost {
        return PageError::Unauthorized(refusal.text()).into_response();
    }
    let mut form = LOGIN.response(headers);
    *form.status_mut() = StatusCode::UNAUTHORIZED;
    form
}

fn token_of(uri: &Uri) -> Option<String> {
    let mut pairs = form_urlencoded::parse(uri.query()?.as_bytes());
    pairs.find(|(key, _)| key == "token").map(|(_, token)| token.into_owned())
}

/// Returns the connection of a request, which the server adds.
fn visitor_of(request: &Request) -> Option<ConnectionInfo> {
    request.extensions().get::<ConnectionInfo>().cloned()
}

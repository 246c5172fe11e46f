//! How a user names the place of backups: a folder, `file:///FOLDER` or `s3://BUCKET/PREFIX`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The place of backups. Never holds credentials: those of an S3 store come from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupUrl {
    /// A folder, on this machine or mounted.
    Folder(PathBuf),
    /// A bucket of an S3-compatible store.
    S3 {
        /// Name of the bucket.
        bucket: String,
        /// What the keys of all objects begin with; may be empty.
        prefix: String,
    },
}

/// Why a text names no place of backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BackupUrlError {
    /// It is empty.
    #[error("names no place: give a folder, file:///FOLDER or s3://BUCKET/PREFIX")]
    Empty,
    /// It is a URL of another kind.
    #[error("is not a folder, file:///FOLDER or s3://BUCKET/PREFIX")]
    OtherScheme,
    /// A `file:` URL without an absolute path.
    #[error("names no folder of this machine: write file:///FOLDER, with three slashes")]
    NotAbsolute,
    /// An `s3:` URL without a bucket.
    #[error("names no bucket: write s3://BUCKET/PREFIX")]
    NoBucket,
    /// An `s3:` URL with a user, a password or a query.
    #[error(
        "may hold nothing but bucket and prefix: credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
         another server from AWS_ENDPOINT_URL"
    )]
    MoreThanBucket,
}

impl FromStr for BackupUrl {
    type Err = BackupUrlError;

    fn from_str(text: &str) -> Result<Self, BackupUrlError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return if text.is_empty() { Err(BackupUrlError::Empty) } else { Ok(Self::Folder(text.into())) };
        };
        match scheme {
            "file" if rest.starts_with('/') => Ok(Self::Folder(rest.into())),
            "file" => Err(BackupUrlError::NotAbsolute),
            "s3" => Self::of_s3(rest),
            _ => Err(BackupUrlError::OtherScheme),
        }
    }
}

impl BackupUrl {
    fn of_s3(rest: &str) -> Result<Self, BackupUrlError> {
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains(['@', ':', '?']) || prefix.contains(['?', '#']) {
            return Err(BackupUrlError::MoreThanBucket);
        }
        if bucket.is_empty() {
            return Err(BackupUrlError::NoBucket);
        }
        Ok(Self::S3 { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
    }

    /// Returns the folder, if it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::S3 { .. } => None,
        }
    }
}

impl fmt::Display for BackupUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(formatter, "{}", folder.display()),
            Self::S3 { bucket, prefix } if prefix.is_empty() => write!(formatter, "s3://{bucket}"),
            Self::S3 { bucket, prefix } => write!(formatter, "s3://{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_bucket() {
        let s3 = |bucket: &str, prefix: &str| BackupUrl::S3 { bucket: bucket.into(), prefix: prefix.into() };
        let places = [
            ("/mnt/backup", BackupUrl::Folder("/mnt/backup".into())),
            ("backup", BackupUrl::Folder("backup".into())),
            ("file:///mnt/backup", BackupUrl::Folder("/mnt/backup".into())),
            ("s3://bucket", s3("bucket", "")),
            ("s3://bucket/runs/hive/", s3("bucket", "runs/hive")),
        ];
        for (text, place) in places {
            assert_eq!(text.parse(), Ok(place), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let wrong = [
            ("", BackupUrlError::Empty),
            ("gs://bucket", BackupUrlError::OtherScheme),
            ("https://server/bucket", BackupUrlError::OtherScheme),
            ("file://backup", BackupUrlError::NotAbsolute),
            ("s3://", BackupUrlError::NoBucket),
            ("s3:///prefix", BackupUrlError::NoBucket),
            ("s3://key:secret@bucket/prefix", BackupUrlError::MoreThanBucket),
            ("s3://bucket/prefix?versionId=1", BackupUrlError::MoreThanBucket),
        ];
        for (text, error) in wrong {
            assert_eq!(text.parse::<BackupUrl>(), Err(error), "{text}");
        }
    }
}

import type { Redacted } from "effect"
import { withoutTrailingSlashes } from "./TrailingSlashes.ts"
import type { Values } from "./variables.ts"

/** An S3-compatible bucket, and the credentials for it. */
export interface S3Settings {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  /** True if the bucket is part of the path, false if it is part of the host name. */
  readonly pathStyle: boolean
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted<string>
  /** ACL of each object; undefined if the bucket decides. */
  readonly acl: "private" | "public-read" | undefined
}

const needed = ["S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const
const named = [...needed, "S3_ENDPOINT", "S3_REGION", "S3_PATH_STYLE", "S3_ACL"] as const

/**
 * Returns an error for each missing S3 variable, if any is set: an incomplete bucket must not fall back to the disk.
 */
export const missing = (values: Values): ReadonlyArray<string> =>
  named.some((name) => values[name] !== undefined)
    ? needed.filter((name) => values[name] === undefined)
      .map((name) => `${name}: files in a bucket (S3_... is set) need it.`)
    : []

/** Returns the configured bucket; undefined if files are on this machine's disk. */
export const s3Settings = (values: Values): S3Settings | undefined => {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_BUCKET: bucket, S3_SECRET_ACCESS_KEY: secretAccessKey } = values
  if (accessKeyId === undefined || bucket === undefined || secretAccessKey === undefined) return undefined
  const region = values.S3_REGION ?? "us-east-1"
  return {
    endpoint: values.S3_ENDPOINT === undefined
      ? `https://s3.${region}.amazonaws.com`
      : withoutTrailingSlashes(values.S3_ENDPOINT.href),
    region,
    bucket,
    pathStyle: values.S3_PATH_STYLE ?? values.S3_ENDPOINT !== undefined,
    accessKeyId,
    secretAccessKey,
    acl: values.S3_ACL
  }
}

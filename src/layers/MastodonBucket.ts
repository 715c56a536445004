import { Effect, FileSystem, Layer, Option, Path, Redacted, Stream } from "effect"
import { OldFiles } from "../services/mastodon/OldFiles.ts"
import { Storage, StorageFailed, storageFailed } from "../services/media/Storage.ts"
import type { S3Settings } from "./environment/S3Settings.ts"
import { withoutTrailingSlashes } from "./environment/TrailingSlashes.ts"
import { OperatorError } from "./OperatorError.ts"
import * as Requests from "./storage/s3/Requests.ts"
import { records } from "./storage/s3/XmlTexts.ts"

/** Maximum bytes of a copied file; a larger one counts as missing. */
const fileBytesMax = 2 ** 31
const scheme = "s3://"

/** A bucket with the files of a Mastodon server. */
interface Bucket {
  readonly settings: S3Settings
  /** Prefix of the keys: empty, or with a slash at its end. */
  readonly prefix: string
}

export const isBucket = (media: string): boolean => media.startsWith(scheme)

/**
 * Reads `s3://BUCKET/PREFIX`, with the credentials and the endpoint of Mastodon's environment file. Without a prefix,
 * that of `S3_KEY_PREFIX` is used.
 */
export const bucketOf = Effect.fnUntraced(function*(media: string, variables: ReadonlyMap<string, string>) {
  const [bucket = "", ...rest] = media.slice(scheme.length).split("/")
  const set = (name: string) => variables.get(name) || undefined
  const [accessKeyId, secret] = [set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY")]
  if (bucket === "") {
    return yield* new OperatorError({ message: `--media ${media} names no bucket: s3://BUCKET/PREFIX` })
  }
  if (accessKeyId === undefined || secret === undefined) {
    return yield* new OperatorError({
      message: "The environment file has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to read the bucket with."
    })
  }
  const region = set("S3_REGION") ?? "us-east-1"
  const given = set("S3_ENDPOINT")
  const endpoint = given ?? `https://s3.${region}.amazonaws.com`
  if (!URL.canParse(endpoint)) return yield* new OperatorError({ message: "S3_ENDPOINT is not a URL" })
  const prefix = rest.filter((part) => part !== "").join("/") || (set("S3_KEY_PREFIX") ?? "")
  const found: Bucket = {
    settings: {
      endpoint: withoutTrailingSlashes(endpoint),
      region,
      bucket,
      pathStyle: given !== undefined && set("S3_OVERRIDE_PATH_STYLE") !== "true",
      accessKeyId,
      secretAccessKey: Redacted.make(secret),
      acl: undefined
    },
    prefix: prefix === "" ? "" : `${withoutTrailingSlashes(prefix)}/`
  }
  return found
})

/** A name in the database must not lead out of the prefix. */
const isInside = (name: string) => name.split("/").every((part) => part !== "" && part !== "." && part !== "..")

/**
 * Fails if the bucket does not exist or has nothing below the prefix: each file would count as missing. Keys that may not
 * list the bucket are accepted.
 */
const checkFiles = Effect.fnUntraced(function*(requests: Requests.Requests, bucket: string, prefix: string) {
  const list = {
    method: "GET",
    query: { "list-type": "2", "max-keys": "1", ...(prefix !== "" && { prefix }) }
  } as const
  const isThere = yield* requests.find(list)
  if (Option.isNone(isThere)) return yield* new OperatorError({ message: `There is no bucket ${bucket}.` })
  const files = records(yield* requests.document(list), "ListBucketResult/Contents", ["Key"])
  if (files.length > 0) return
  return yield* new OperatorError({ message: `The bucket ${bucket} has no files below ${prefix}` })
}, Effect.catchTag("StorageFailed", () => Effect.void))

/** Files of a Mastodon server in a bucket. */
export const layer = ({ prefix, settings }: Bucket) =>
  Layer.effect(
    OldFiles,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const requests = yield* Requests.make(settings)
      const { folder } = yield* Storage
      const { bucket, endpoint } = settings
      yield* checkFiles(requests, bucket, prefix)

      const downloaded = Effect.fnUntraced(function*(name: string, bytes: number) {
        const broken = () => new StorageFailed({ text: `The bucket ended the response early: ${name}` })
        const found = yield* requests.need({ method: "GET", key: `${prefix}${name}` })
        const file = path.join(yield* folder, "file")
        yield* Stream.run(
          Stream.mapError(found.stream, broken),
          fs.sink(file, { flag: "wx", mode: 0o600 })
        ).pipe(Effect.mapError(storageFailed))
        const { size } = yield* Effect.mapError(fs.stat(file), storageFailed)
        return Number(size) === bytes ? file : yield* broken()
      })

      return OldFiles.of({
        find: Effect.fnUntraced(function*(names) {
          for (const name of names.filter(isInside)) {
            const key = `${prefix}${name}`
            const found = yield* requests.find({ method: "HEAD", key })
            if (Option.isNone(found)) continue
            const bytes = Number(found.value.headers["content-length"] ?? 0)
            if (bytes > fileBytesMax) continue
            return { name, bytes, object: { endpoint, bucket, key }, path: downloaded(name, bytes) }
          }
          return undefined
        })
      })
    })
  )

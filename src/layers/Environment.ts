import { Config, Context, Effect, Layer, Option, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { filesPath } from "../services/instance/Urls.ts"
import { captchaSettings, missingForCaptcha } from "./environment/CaptchaSettings.ts"
import { missingForProvider, providerSettings } from "./environment/OidcSettings.ts"
import { refusePublicAddress } from "./environment/PrivateAddress.ts"
import { missing, type S3Settings, s3Settings } from "./environment/S3Settings.ts"
import { withoutTrailingSlashes } from "./environment/TrailingSlashes.ts"
import {
  missingForTranslation,
  type TranslationSettings,
  translationSettings
} from "./environment/TranslationSettings.ts"
import * as UnknownVariables from "./environment/UnknownVariables.ts"
import type { ShardGroup, Variable } from "./environment/Variable.ts"
import { type Values, variables } from "./environment/variables.ts"
import { OperatorError } from "./OperatorError.ts"

/**
 * The configuration of the layers, read and validated before anything starts. `ServerConfig` is the part that the other
 * areas may use.
 */
export class Environment extends Context.Service<Environment, {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly databaseUrl: Redacted.Redacted<string> | undefined
  readonly databaseConnections: number
  /** Folder for the write-ahead log of the embedded Postgres; undefined if it is not archived. */
  readonly walArchiveDir: string | undefined
  readonly redisUrl: Redacted.Redacted<string> | undefined
  readonly smtpUrl: Redacted.Redacted<string> | undefined
  readonly secretKey: Redacted.Redacted<string> | undefined
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Name servers for MX queries; empty for those of the machine. */
  readonly nameServers: ReadonlyArray<string>
  /** Maximum connections per address, trusted proxies excepted. */
  readonly connectionsPerAddress: number
  /** Seconds after which a request without a response gets 503. */
  readonly responseSeconds: number
  readonly logLevel: Values["LOG_LEVEL"]
  readonly logFormat: Values["LOG_FORMAT"]
  readonly otlpUrl: string | undefined
  /** Maximum concurrent media jobs. */
  readonly mediaConcurrency: number
  /** Bucket for files; undefined if they are in `dataDir`. */
  readonly s3: S3Settings | undefined
  /** Translation service; undefined without one. */
  readonly translation: TranslationSettings | undefined
  /** Maximum bytes of cached remote files on this machine. */
  readonly mediaCacheBytes: number
  /** Kinds of actors that may run on this node. */
  readonly shardGroups: ReadonlyArray<ShardGroup>
  /** Address of this node for the other nodes; undefined for a single process. */
  readonly cluster: { readonly host: string; readonly port: number } | undefined
  /** Messages about variables that resemble a setting but are none. */
  readonly unknownVariables: ReadonlyArray<string>
  readonly server: ServerConfig["Service"]
}>()("murmuration/layers/Environment") {
  /** Reads the variables from the `ConfigProvider`; fails with all errors at once. */
  static readonly layer = Layer.effect(Environment, Effect.suspend(() => read))
}

export const serverConfig = Layer.effect(ServerConfig, Effect.map(Environment, ({ server }) => server))

const read = Effect.gen(function*() {
  const errors: Array<string> = []
  const values = yield* readAll(errors)
  errors.push(...contradictions(values))
  if (values.CLUSTER_HOST !== undefined) errors.push(...yield* refusePublicAddress("CLUSTER_HOST", values.CLUSTER_HOST))
  if (errors.length > 0) {
    return yield* new OperatorError({
      message: ["The configuration is invalid, so the server did not start:", ...errors.map((line) => `  ${line}`)]
        .join(
          "\n"
        )
    })
  }
  const url = values.PUBLIC_URL ?? new URL(`http://localhost:${values.PORT}`)
  const localDomain = values.LOCAL_DOMAIN ?? url.host
  return Environment.of({
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL,
    databaseConnections: values.DATABASE_CONNECTIONS,
    walArchiveDir: values.WAL_ARCHIVE_DIR,
    redisUrl: values.REDIS_URL,
    smtpUrl: values.SMTP_URL,
    secretKey: values.SECRET_KEY,
    trustedProxies: values.TRUSTED_PROXIES,
    nameServers: values.NAME_SERVERS ?? [],
    connectionsPerAddress: values.CONNECTIONS_PER_ADDRESS,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
    responseSeconds: values.RESPONSE_SECONDS_MAX,
    mediaConcurrency: values.MEDIA_CONCURRENCY,
    s3: s3Settings(values),
    translation: translationSettings(values),
    mediaCacheBytes: values.MEDIA_CACHE_BYTES,
    shardGroups: values.CLUSTER_SHARD_GROUPS,
    otlpUrl: values.OTLP_URL?.href,
    cluster: values.CLUSTER_HOST === undefined ? undefined : { host: values.CLUSTER_HOST, port: values.CLUSTER_PORT },
    unknownVariables: yield* UnknownVariables.unknownWarnings,
    server: {
      localDomain,
      publicUrl: url.origin,
      sourceUrl: values.SOURCE_URL?.href,
      mediaUrl: values.MEDIA_BASE_URL === undefined
        ? url.origin + filesPath
        : withoutTrailingSlashes(values.MEDIA_BASE_URL.href),
      mediaProxied: values.MEDIA_CACHE_BYTES > 0,
      federated: url.protocol === "https:" || values.OUTBOUND_ALLOW !== undefined,
      outboundAllow: values.OUTBOUND_ALLOW ?? [],
      publicTimelines: values.PUBLIC_TIMELINES,
      unusedDays: values.UNUSED_DAYS,
      trendsReview: values.TRENDS_REVIEW,
      emailSubscriptions: values.EMAIL_SUBSCRIPTIONS === "on",
      authorizedFetch: values.AUTHORIZED_FETCH,
      limitedFederation: values.LIMITED_FEDERATION,
      registrations: values.REGISTRATIONS,
      signupConfirmation: values.SIGNUP_CONFIRMATION,
      captcha: captchaSettings(values),
      provider: providerSettings(values),
      rateLimits: values.RATE_LIMITS === "on",
      mailFrom: values.MAIL_FROM ?? `notifications@${localDomain.replace(/:\d+$/, "")}`
    }
  })
})

/** Reads every variable; adds a line to `errors` for each invalid one. */
const readAll = Effect.fnUntraced(function*(errors: Array<string>) {
  const readOne = Effect.fnUntraced(function*(name: string, { absent, expects, read, secret }: Variable<unknown>) {
    const text = yield* Config.String(name).pipe(Config.withDefault(""), Effect.orElseSucceed(() => ""))
    if (text.trim() === "") return absent
    const value = read(text.trim())
    if (Option.isSome(value)) return value.value
    errors.push(`${name}: expected ${expects.replaceAll("`", "")}${secret ? "" : `, not "${text}"`}.`)
    return absent
  })
  const entries = yield* Effect.forEach(
    Object.entries(variables),
    ([name, variable]) => Effect.map(readOne(name, variable), (value) => [name, value] as const)
  )
  return valuesOf(entries)
})

/** Builds the values from the entries of all variables. */
function valuesOf(entries: ReadonlyArray<readonly [name: string, value: unknown]>): Values
function valuesOf(entries: ReadonlyArray<readonly [name: string, value: unknown]>): unknown {
  return Object.fromEntries(entries)
}

/** Returns errors about values that are valid alone but not together. */
const contradictions = (values: Values): Array<string> => {
  const errors: Array<string> = []
  const { pathname, search } = values.PUBLIC_URL ?? { pathname: "/", search: "" }
  if (pathname !== "/" || search !== "") errors.push("PUBLIC_URL: expected no path; the server needs the whole host.")
  if (values.CLUSTER_HOST !== undefined) {
    for (const name of ["DATABASE_URL", "REDIS_URL"] as const) {
      if (values[name] === undefined) {
        errors.push(`${name}: a cluster (CLUSTER_HOST is set) needs one shared by all nodes.`)
      }
    }
  }
  if (values.WAL_ARCHIVE_DIR !== undefined && values.DATABASE_URL !== undefined) {
    errors.push("WAL_ARCHIVE_DIR: archives the embedded Postgres only; archive your own with its tools.")
  }
  return [
    ...errors,
    ...missing(values),
    ...missingForTranslation(values),
    ...missingForCaptcha(values),
    ...missingForProvider(values)
  ]
}

import { defaultResponseSeconds } from "../../services/runtime/ResponseSeconds.ts"
import {
  domain,
  flag,
  groups,
  host,
  integer,
  names,
  networks,
  oneOf,
  optional,
  pairs,
  secretText,
  secretUrl,
  servers,
  text,
  url,
  type Variable,
  withDefault
} from "./Variable.ts"

/**
 * All environment variables of the server. Parsing, error messages and the table of docs/settings.md use this one list.
 */
export const variables = {
  HOST: withDefault(host, "127.0.0.1", {
    about: "Address to listen on; `0.0.0.0` means all addresses."
  }),
  PORT: withDefault(integer(0, 65535), "3000", {
    about: "Port to listen on; `0` means any free port."
  }),
  PUBLIC_URL: optional(url("http", "https"), "`http://localhost:PORT`", {
    about: "Public URL of the server. With `http` the server does not federate, for trying it out."
  }),
  LOCAL_DOMAIN: optional(domain, "the host of `PUBLIC_URL`", {
    about: "Domain part of handles. Never change it once accounts exist."
  }),
  DATA_DIR: withDefault(text("a folder"), "./data", {
    about: "Data folder for everything outside your own database: embedded Postgres, secrets, files, e-mail."
  }),
  DATABASE_URL: optional(secretUrl("postgres", "postgresql"), "embedded Postgres in `DATA_DIR`", {
    about: "URL of your own Postgres (14 or later).",
    secret: true
  }),
  DATABASE_CONNECTIONS: withDefault(integer(5, 500), "20", {
    about: "Maximum Postgres connections of one process."
  }),
  WAL_ARCHIVE_DIR: optional(text("a folder"), "not archived", {
    about:
      "Archives the write-ahead log of the embedded Postgres in this folder, so that it can be restored to an exact time. Costs disk space, and a little work for each change."
  }),
  REDIS_URL: optional(secretUrl("redis", "rediss"), "memory of the process", {
    about: "Redis for feeds, streaming events and rate limits. Required for a cluster.",
    secret: true
  }),
  SMTP_URL: optional(secretUrl("smtp", "smtps"), "e-mail is written to `DATA_DIR/mail`", {
    about: "Mail server, for example `smtps://user:password@mail.example.org`.",
    secret: true
  }),
  MAIL_FROM: optional(text("an e-mail address"), "`notifications@LOCAL_DOMAIN`", {
    about: "Sender of the server's e-mail."
  }),
  SECRET_KEY: optional(secretText(32), "generated once and stored", {
    about:
      "Signs cookies and links, and encrypts the secrets of two-factor sign-in: if it changes, two-factor codes stop working. By default it is stored in `DATA_DIR`, or with `DATABASE_URL` in the database.",
    secret: true
  }),
  SOURCE_URL: optional(url("http", "https"), "not shown", {
    about: "URL of the source code of your version, shown on the front page and to clients."
  }),
  PUBLIC_TIMELINES: withDefault(oneOf("public", "members"), "public", {
    about:
      "Readers of the public and hashtag timelines: everybody, or members only. Used until staff change it on the server."
  }),
  UNUSED_DAYS: withDefault(integer(7, 36_500), "90", {
    about: "Days after which unreferenced remote data is removed: accounts, their servers' inboxes and emoji, hashtags."
  }),
  TRENDS_REVIEW: withDefault(oneOf("on", "off"), "on", {
    about: "Hashtags, posts and links trend only after staff approval. Rejected ones never trend, even with `off`."
  }),
  EMAIL_SUBSCRIPTIONS: withDefault(oneOf("on", "off"), "off", {
    about: "Members whose role allows it can offer their public posts by e-mail to people without an account."
  }),
  AUTHORIZED_FETCH: withDefault(flag, "false", {
    about: "Secure mode: other servers must sign requests for accounts and posts, so that blocked servers get none."
  }),
  LIMITED_FEDERATION: withDefault(flag, "false", {
    about:
      "Restricted mode: everything except instance information requires a user, and the server communicates with allowed servers only."
  }),
  OUTBOUND_ALLOW: optional(networks, "none", {
    about:
      "Private networks in which other servers are allowed, for tests and labs. They can be reached without TLS, and the server federates with an http `PUBLIC_URL`."
  }),
  TRUSTED_PROXIES: withDefault(networks, "127.0.0.0/8, ::1", {
    about: "Reverse proxies whose `X-Forwarded-For` is trusted."
  }),
  NAME_SERVERS: optional(servers, "those of the system", {
    about: "Name servers for MX look-ups, which are made if e-mail domains are blocked."
  }),
  CONNECTIONS_PER_ADDRESS: withDefault(integer(16, 32_768), "2048", {
    about:
      "Maximum open connections of one client address; an IPv6 address counts as its /64. The default allows for the 1,500 streams of a large network behind one address, and is a sixteenth of the server's connections. Proxies in `TRUSTED_PROXIES` are exempt."
  }),
  REGISTRATIONS: withDefault(oneOf("open", "approval", "closed"), "closed", {
    about:
      "Sign-up mode: open to everybody, with approval by a moderator, or closed (accounts are created by invite or on the command line). Used until staff change it on the server."
  }),
  SIGNUP_CONFIRMATION: withDefault(oneOf("mail", "none"), "mail", {
    about: "New users confirm their e-mail address by an e-mailed link, or not at all."
  }),
  CAPTCHA: withDefault(oneOf("off", "proof", "hcaptcha"), "off", {
    about:
      "Captcha at the confirmation of a sign-up: proof of work done by the browser (`proof`), or a service with hCaptcha's API."
  }),
  CAPTCHA_BITS: withDefault(integer(8, 26), "17", {
    about: "Difficulty of the proof of work; each bit doubles it. 17 bits take a phone a few seconds."
  }),
  CAPTCHA_SITE_KEY: optional(text("a key"), "none", {
    about: "Public key of the captcha service."
  }),
  CAPTCHA_SECRET_KEY: optional(secretText(1), "none", {
    about: "Secret key of the captcha service.",
    secret: true
  }),
  CAPTCHA_VERIFY_URL: optional(url("http", "https"), "none", {
    about: "Verification URL of the captcha service, `siteverify` at hCaptcha."
  }),
  CAPTCHA_SCRIPT_URL: optional(url("http", "https"), "none", {
    about: "Script URL of the captcha service."
  }),
  OIDC_ISSUER: optional(url("http", "https"), "no provider", {
    about:
      "Issuer URL of an OpenID Connect provider, by which users sign in. It can be in a private network, there also without TLS. Its redirect URI for this server is `PUBLIC_URL/auth/auth/openid_connect/callback`."
  }),
  OIDC_CLIENT_ID: optional(text("an id"), "none", {
    about: "Id of this server at the provider."
  }),
  OIDC_CLIENT_SECRET: optional(secretText(1), "none", {
    about: "Secret of this server at the provider.",
    secret: true
  }),
  OIDC_NAME: optional(text("a name"), "the host of `OIDC_ISSUER`", {
    about: "Name of the provider on the sign-in button."
  }),
  OIDC_SCOPES: withDefault(text("scopes, separated by spaces"), "openid email profile", {
    about: "Scopes to request. Some providers send groups only with a scope such as `groups`."
  }),
  OIDC_GROUPS_CLAIM: withDefault(text("the name of a claim"), "groups", {
    about: "Claim with the person's groups; dots lead into objects (`realm_access.roles`)."
  }),
  OIDC_ALLOWED_GROUPS: optional(names, "everybody", {
    about: "Groups whose members may sign in by the provider."
  }),
  OIDC_ROLES: optional(pairs, "roles are set on this server", {
    about:
      "Roles by group, such as `admins=Admin, helpers=Moderator`. Each sign-in gives the highest role of the person's groups, and takes away a role of this list if no group gives it. The role Owner is neither given nor taken."
  }),
  OIDC_SIGN_UP: withDefault(flag, "false", {
    about:
      "People without an account get one at their first sign-in, also if sign-ups are closed. Approval by a moderator, rules and blocks apply as to other sign-ups."
  }),
  OIDC_ONLY: withDefault(flag, "false", {
    about: "Refuses passwords: sign-in and sign-up are by the provider (or a passkey), and passwords cannot be reset."
  }),
  OIDC_TRUST_MFA: withDefault(flag, "false", {
    about:
      "Users with two-factor sign-in need no code if the provider says (claim `amr`) that it used several factors itself."
  }),
  RESPONSE_SECONDS_MAX: withDefault(integer(5, 60), String(defaultResponseSeconds), {
    about:
      "Seconds after which a request without a response gets 503, so that clients retry. Raise it on a machine that is often slower than that, such as a single-board computer."
  }),
  RATE_LIMITS: withDefault(oneOf("on", "off"), "on", {
    about: "`off` disables all rate limits, for tests and benchmarks."
  }),
  MEDIA_BASE_URL: optional(url("http", "https"), "`PUBLIC_URL/system`", {
    about: "Base URL of uploaded files, if a CDN or another origin serves them."
  }),
  MEDIA_CONCURRENCY: withDefault(integer(1, 64), "2", {
    about: "Uploaded files that one node processes concurrently."
  }),
  MEDIA_CACHE_BYTES: withDefault(integer(0, Number.MAX_SAFE_INTEGER), "1073741824", {
    about:
      "Size of the cache of remote files on each machine. With `0` browsers load them from their servers, which then see the viewers' addresses."
  }),
  S3_BUCKET: optional(text("the name of a bucket"), "files are in `DATA_DIR/media`", {
    about: "S3 bucket for uploaded files. Its key needs permission to read, write, delete and list."
  }),
  S3_ENDPOINT: optional(url("http", "https"), "Amazon's, of `S3_REGION`", {
    about: "Endpoint URL of the bucket's provider."
  }),
  S3_REGION: optional(text("a region's name"), "`us-east-1`", {
    about: "Region of the bucket."
  }),
  S3_ACCESS_KEY_ID: optional(text("a key's id"), "none", {
    about: "Access key id of the bucket."
  }),
  S3_SECRET_ACCESS_KEY: optional(secretText(1), "none", {
    about: "Secret access key of the bucket.",
    secret: true
  }),
  S3_PATH_STYLE: optional(flag, "`true` with `S3_ENDPOINT`, otherwise `false`", {
    about: "Puts the bucket's name into the path of URLs instead of the host name."
  }),
  S3_ACL: optional(oneOf("private", "public-read"), "the bucket decides", {
    about:
      "ACL of stored files; use `public-read` if `MEDIA_BASE_URL` points to the bucket and the provider needs an explicit ACL."
  }),
  TRANSLATION_URL: optional(url("http", "https"), "posts are not translated", {
    about:
      "Translation service with LibreTranslate's or DeepL's API; it can be in a private network and without TLS. With `TRANSLATION_KIND=deepl` the default is DeepL's own service."
  }),
  TRANSLATION_KIND: optional(oneOf("libretranslate", "deepl"), "`libretranslate`", {
    about: "API of the translation service."
  }),
  TRANSLATION_KEY: optional(secretText(1), "none", {
    about: "Key of the translation service. Required for DeepL.",
    secret: true
  }),
  LOG_LEVEL: withDefault(oneOf("debug", "info", "warning", "error"), "info", {
    about: "Minimum level of log messages."
  }),
  LOG_FORMAT: withDefault(oneOf("logfmt", "json"), "logfmt", {
    about: "Form of log messages: `json` is an object a line, for collectors of logs."
  }),
  OTLP_URL: optional(url("http", "https"), "no spans", {
    about: "OpenTelemetry collector for spans, metrics and logs."
  }),
  CLUSTER_HOST: optional(host, "one process, no cluster", {
    about:
      "Private address at which other nodes reach this one. Its port has no encryption and no password, so a public address is refused."
  }),
  CLUSTER_PORT: withDefault(integer(1, 65535), "34431", {
    about: "Port at `CLUSTER_HOST`."
  }),
  CLUSTER_SHARD_GROUPS: withDefault(groups, "default,media", {
    about:
      "Work of a cluster node besides serving requests: `media` processes uploaded files, `default` is everything else."
  })
} satisfies Record<string, Variable<unknown>>

/** Values of the variables, parsed or their defaults. */
export type Values = { readonly [K in keyof typeof variables]: (typeof variables)[K]["absent"] }

/** Returns the table of `docs/settings.md`. */
export const markdown = (): string =>
  ["| Variable | Default | |", "|---|---|---|"]
    .concat(
      Object.entries(variables).map(([name, { about, expects, fallback }]) =>
        `| \`${name}\` | ${fallback} | ${about} (${expects}) |`
      )
    )
    .join("\n")

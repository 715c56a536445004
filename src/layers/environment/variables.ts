import {
  domain,
  flag,
  groups,
  host,
  integer,
  networks,
  oneOf,
  optional,
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
    about: "Address to listen on; `0.0.0.0` is all of them."
  }),
  PORT: withDefault(integer(0, 65535), "3000", {
    about: "Port to listen on; `0` takes any free one."
  }),
  PUBLIC_URL: optional(url("http", "https"), "`http://localhost:PORT`", {
    about: "Where people reach the server. With `http` it runs unfederated, for trying out."
  }),
  LOCAL_DOMAIN: optional(domain, "the host of `PUBLIC_URL`", {
    about: "The part after the @ in handles. Never change it once people have accounts."
  }),
  DATA_DIR: withDefault(text("a folder"), "./data", {
    about:
      "Folder of everything that the server keeps outside a database of yours: embedded Postgres, secrets, files, mail."
  }),
  DATABASE_URL: optional(secretUrl("postgres", "postgresql"), "embedded Postgres in `DATA_DIR`", {
    about: "A Postgres (14 or later) of your own.",
    secret: true
  }),
  DATABASE_CONNECTIONS: withDefault(integer(5, 500), "20", {
    about: "Sessions with Postgres that one process opens at most."
  }),
  REDIS_URL: optional(secretUrl("redis", "rediss"), "memory of the process", {
    about: "A Redis for feeds, streaming events and rate limits. A cluster needs it.",
    secret: true
  }),
  SMTP_URL: optional(secretUrl("smtp", "smtps"), "mail is written to `DATA_DIR/mail`", {
    about: "Mail server, for example `smtps://user:password@mail.example.org`.",
    secret: true
  }),
  MAIL_FROM: optional(text("a mail address"), "`notifications@LOCAL_DOMAIN`", {
    about: "Sender of the server's mail."
  }),
  SECRET_KEY: optional(secretText(32), "made once and kept", {
    about:
      "Signs cookies and links, and seals the secrets of two-factor sign-in: with another one nobody's codes work. Where it is not set it is kept in `DATA_DIR`, or with `DATABASE_URL` in the database.",
    secret: true
  }),
  SOURCE_URL: optional(url("http", "https"), "not shown", {
    about: "Where the source of the server as you run it is to be had, shown on the front page and to clients."
  }),
  PUBLIC_TIMELINES: withDefault(oneOf("public", "members"), "public", {
    about: "Who may read the public and hashtag timelines without signing in, until staff set it on the server."
  }),
  UNUSED_DAYS: withDefault(integer(7, 36_500), "90", {
    about:
      "Days after which what other servers left is removed, unless something here refers to it: accounts, their servers' addresses and emoji, hashtags."
  }),
  TRENDS_REVIEW: withDefault(oneOf("on", "off"), "on", {
    about: "Whether hashtags, posts and links trend only after staff allowed them. What staff refuses never does."
  }),
  EMAIL_SUBSCRIPTIONS: withDefault(oneOf("on", "off"), "off", {
    about:
      "Whether members whose role allows it may have their public posts sent by e-mail to people without an account."
  }),
  AUTHORIZED_FETCH: withDefault(flag, "false", {
    about:
      "Secure mode: other servers get accounts and posts only where they sign their requests, so that blocked ones get none."
  }),
  LIMITED_FEDERATION: withDefault(flag, "false", {
    about: "Restricted mode: everything but instance information needs a user, and only allowed servers are talked to."
  }),
  OUTBOUND_ALLOW: optional(networks, "none", {
    about:
      "Private networks that other servers may be in, for tests and labs: these are reached without TLS too, and `PUBLIC_URL` may then be http and federates."
  }),
  TRUSTED_PROXIES: withDefault(networks, "127.0.0.0/8, ::1", {
    about: "Reverse proxies whose `X-Forwarded-For` is believed."
  }),
  NAME_SERVERS: optional(servers, "those of the machine", {
    about: "Name servers that are asked who takes the mail of a domain, where domains of e-mail addresses are blocked."
  }),
  CONNECTIONS_PER_ADDRESS: withDefault(integer(16, 32_768), "2048", {
    about:
      "Connections that one client's address may have open, an IPv6 address with its /64: room for the 1,500 streams of a large house behind one address, and a sixteenth of what the server takes. Reverse proxies of `TRUSTED_PROXIES` are not counted."
  }),
  REGISTRATIONS: withDefault(oneOf("open", "approval", "closed"), "closed", {
    about:
      "Who may sign up, until staff set it on the server: everybody, everybody whom a moderator approves, or nobody (accounts are made by the command line and by invites)."
  }),
  SIGNUP_CONFIRMATION: withDefault(oneOf("mail", "none"), "mail", {
    about: "Whether a new user confirms the address by a link in a mail."
  }),
  CAPTCHA: withDefault(oneOf("off", "proof", "hcaptcha"), "off", {
    about:
      "What keeps programs from confirming a sign-up: work that the browser does by itself (`proof`), or a service that speaks as hCaptcha does."
  }),
  CAPTCHA_BITS: withDefault(integer(8, 26), "17", {
    about: "How much work that is; each one more doubles it. 17 take a phone some seconds."
  }),
  CAPTCHA_SITE_KEY: optional(text("a key"), "none", {
    about: "The public key of the captcha service."
  }),
  CAPTCHA_SECRET_KEY: optional(secretText(1), "none", {
    about: "The secret key of the captcha service.",
    secret: true
  }),
  CAPTCHA_VERIFY_URL: optional(url("http", "https"), "none", {
    about: "Where the captcha service is asked whether somebody passed; hCaptcha says it as `siteverify`."
  }),
  CAPTCHA_SCRIPT_URL: optional(url("http", "https"), "none", {
    about: "Where browsers get the captcha service's script."
  }),
  RATE_LIMITS: withDefault(oneOf("on", "off"), "on", {
    about: "`off` lifts every limit of requests, for tests and benchmarks."
  }),
  MEDIA_BASE_URL: optional(url("http", "https"), "`PUBLIC_URL/system`", {
    about: "Where browsers get uploaded files, when a CDN or another origin serves them."
  }),
  MEDIA_CONCURRENCY: withDefault(integer(1, 64), "2", {
    about: "Uploaded files that one node works on at once."
  }),
  MEDIA_CACHE_BYTES: withDefault(integer(0, Number.MAX_SAFE_INTEGER), "1073741824", {
    about:
      "Room for copies of remote accounts' files on each machine. With `0` browsers get them from where they are, and those servers learn who looks."
  }),
  S3_BUCKET: optional(text("the name of a bucket"), "files are in `DATA_DIR/media`", {
    about: "A bucket that speaks S3 for uploaded files. Its key needs to read, write, delete and list."
  }),
  S3_ENDPOINT: optional(url("http", "https"), "Amazon's, of `S3_REGION`", {
    about: "Where the bucket's provider is reached."
  }),
  S3_REGION: optional(text("a region's name"), "`us-east-1`", {
    about: "The bucket's region."
  }),
  S3_ACCESS_KEY_ID: optional(text("a key's id"), "none", {
    about: "Id of the bucket's key."
  }),
  S3_SECRET_ACCESS_KEY: optional(secretText(1), "none", {
    about: "The bucket's key itself.",
    secret: true
  }),
  S3_PATH_STYLE: optional(flag, "`true` with `S3_ENDPOINT`, else `false`", {
    about: "Whether the bucket is named in the path of addresses, else in the host's name."
  }),
  S3_ACL: optional(oneOf("private", "public-read"), "the bucket decides", {
    about:
      "Who may read a file in the bucket; `public-read` where `MEDIA_BASE_URL` leads to it and it needs to be said."
  }),
  TRANSLATION_URL: optional(url("http", "https"), "posts are not translated", {
    about:
      "A translation service that speaks as LibreTranslate or DeepL does; it may be in a private network and without TLS. With `TRANSLATION_KIND=deepl` it is DeepL's own where none is named."
  }),
  TRANSLATION_KIND: optional(oneOf("libretranslate", "deepl"), "`libretranslate`", {
    about: "How the translation service speaks."
  }),
  TRANSLATION_KEY: optional(secretText(1), "none", {
    about: "Key of the translation service. DeepL needs one.",
    secret: true
  }),
  LOG_LEVEL: withDefault(oneOf("debug", "info", "warning", "error"), "info", {
    about: "What the log shows; the rest is dropped."
  }),
  OTLP_URL: optional(url("http", "https"), "no spans", {
    about: "An OpenTelemetry collector that spans, metrics and logs are sent to."
  }),
  CLUSTER_HOST: optional(host, "one process, no cluster", {
    about:
      "Private address at which the other nodes reach this one. Its port carries no encryption and no password, so a public address is refused."
  }),
  CLUSTER_PORT: withDefault(integer(1, 65535), "34431", {
    about: "Port at `CLUSTER_HOST`."
  }),
  CLUSTER_SHARD_GROUPS: withDefault(groups, "default,media", {
    about:
      "What a node of a cluster does beside answering requests: `media` works on uploaded files, `default` is the rest."
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

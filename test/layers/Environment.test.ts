import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { readFileSync } from "node:fs"
import { Environment } from "../../src/layers/Environment.ts"
import { markdown } from "../../src/layers/environment/variables.ts"

const read = (variables: Record<string, string>) =>
  Effect.provide(Environment, Environment.layer).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )

const problems = (variables: Record<string, string>) =>
  Effect.map(Effect.flip(read(variables)), ({ message }) => message)

describe("Environment", () => {
  it.effect("works without any variable: closed sign-ups, unfederated on localhost, one process", () =>
    Effect.gen(function*() {
      const environment = yield* read({})
      assert.deepInclude(environment, { host: "127.0.0.1", port: 3000, dataDir: "./data" })
      assert.isUndefined(environment.cluster)
      assert.deepStrictEqual(environment.server, {
        localDomain: "localhost:3000",
        publicUrl: "http://localhost:3000",
        federated: false,
        mediaUrl: "http://localhost:3000/system",
        mediaProxied: true,
        outboundAllow: [],
        publicTimelines: "public",
        unusedDays: 90,
        trendsReview: "on",
        sourceUrl: undefined,
        emailSubscriptions: false,
        authorizedFetch: false,
        limitedFederation: false,
        registrations: "closed",
        signupConfirmation: "mail",
        captcha: { kind: "off" },
        provider: undefined,
        rateLimits: true,
        mailFrom: "notifications@localhost"
      })
    }))

  it.effect("derives missing values from PUBLIC_URL; an empty variable counts as unset", () =>
    Effect.gen(function*() {
      const { server } = yield* read({
        PUBLIC_URL: "https://social.example.org/",
        LOCAL_DOMAIN: "",
        LIMITED_FEDERATION: "1",
        SOURCE_URL: "https://code.example.org/ours"
      })
      assert.deepInclude(server, {
        localDomain: "social.example.org",
        publicUrl: "https://social.example.org",
        federated: true,
        limitedFederation: true,
        sourceUrl: "https://code.example.org/ours",
        mailFrom: "notifications@social.example.org"
      })
    }))

  it.effect("federates over http if OUTBOUND_ALLOW marks a lab", () =>
    Effect.gen(function*() {
      const { server } = yield* read({ PUBLIC_URL: "http://127.0.0.1:3001", OUTBOUND_ALLOW: "127.0.0.0/8" })
      assert.deepInclude(server, { localDomain: "127.0.0.1:3001", federated: true })
      assert.deepStrictEqual(server.outboundAllow.map(IpNetwork.format), ["127.0.0.0/8"])
    }))

  it.effect("an OpenID provider needs issuer, id and secret; all of its errors are reported", () =>
    Effect.gen(function*() {
      const issuer = "https://id.example.org/realms/people"
      const whole = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: "us", OIDC_CLIENT_SECRET: "secret" }
      const { server } = yield* read({
        ...whole,
        OIDC_ROLES: "admins=Admin, a=b=Moderator",
        OIDC_ALLOWED_GROUPS: "staff,students"
      })
      const { clientSecret, ...provider } = server.provider ?? { clientSecret: Redacted.make("") }
      assert.strictEqual(Redacted.value(clientSecret), "secret")
      assert.deepStrictEqual(provider, {
        issuer,
        clientId: "us",
        name: "id.example.org",
        scopes: "openid email profile",
        groupsClaim: "groups",
        allowedGroups: ["staff", "students"],
        roles: [["admins", "Admin"], ["a=b", "Moderator"]],
        signUp: false,
        only: false,
        trustFactors: false
      })
      for (const half of [{ OIDC_ONLY: "true" }, { OIDC_SIGN_UP: "true" }]) {
        const missing = (yield* problems(half)).split("\n").slice(1).map((line) => line.trim().split(":")[0])
        assert.deepStrictEqual(missing, ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
      }
      const wrong = yield* problems({
        OIDC_ISSUER: `${issuer}?x=1`,
        OIDC_CLIENT_ID: "us",
        OIDC_SCOPES: "email",
        OIDC_ROLES: "bosses=OWNER"
      })
      assert.deepStrictEqual(wrong.split("\n").slice(1), [
        "  OIDC_CLIENT_SECRET: sign-in by a provider (OIDC_... is set) needs it.",
        "  OIDC_ISSUER: expected a URL without user, query and fragment.",
        "  OIDC_SCOPES: expected \"openid\" among the scopes.",
        "  OIDC_ROLES: the role Owner cannot be given by the provider."
      ])
      for (const roles of ["admins", "=Admin", "admins=", ","]) {
        assert.include(yield* problems({ ...whole, OIDC_ROLES: roles }), "OIDC_ROLES: expected pairs name=value")
      }
    }))

  it.effect("reports all errors at once", () =>
    Effect.gen(function*() {
      const message = yield* problems({
        PORT: "http",
        REGISTRATIONS: "maybe",
        PUBLIC_URL: "ftp://example.org",
        SECRET_KEY: "too short",
        TRUSTED_PROXIES: "10.0.0.0/8, here",
        CLUSTER_HOST: "8.8.8.8"
      })
      assert.deepStrictEqual(message.split("\n").slice(1), [
        "  PORT: expected a whole number from 0 to 65535, not \"http\".",
        "  PUBLIC_URL: expected a URL that begins with http:// or https://, not \"ftp://example.org\".",
        "  SECRET_KEY: expected at least 32 characters.",
        "  TRUSTED_PROXIES: expected IP addresses or networks (10.0.0.0/8), separated by commas, not \"10.0.0.0/8, here\".",
        "  REGISTRATIONS: expected open or approval or closed, not \"maybe\".",
        "  DATABASE_URL: a cluster (CLUSTER_HOST is set) needs one shared by all nodes.",
        "  REDIS_URL: a cluster (CLUSTER_HOST is set) needs one shared by all nodes.",
        "  CLUSTER_HOST: 8.8.8.8 is a public address; the cluster's port must be open to the other nodes only."
      ])
    }))

  it.effect("row 82: neither prints nor logs a secret, wrong or right", () =>
    Effect.gen(function*() {
      const databaseUrl = "postgres://user:hunter2@10.0.0.1/db"
      const environment = yield* read({ DATABASE_URL: databaseUrl })
      assert.strictEqual(Redacted.value(environment.databaseUrl!), databaseUrl)
      assert.notInclude(JSON.stringify(environment), "hunter2")
      assert.notInclude(yield* problems({ DATABASE_URL: "mysql://user:hunter2@10.0.0.1/db" }), "hunter2")
    }))

  const shared = { DATABASE_URL: "postgres://10.0.0.1/db", REDIS_URL: "redis://10.0.0.1" }
  for (
    const host of [
      "10.1.2.3",
      "192.168.0.7",
      "172.16.0.1",
      "127.0.0.1",
      "localhost",
      "fd00::7",
      "fe80::1",
      "100.64.0.9"
    ]
  ) {
    it.effect(`row 84: CLUSTER_HOST=${host} is accepted`, () =>
      Effect.gen(function*() {
        const { cluster } = yield* read({ ...shared, CLUSTER_HOST: host, CLUSTER_PORT: "4000" })
        assert.deepStrictEqual(cluster, { host, port: 4000 })
      }))
  }
  for (const host of ["8.8.8.8", "0.0.0.0", "::", "2001:4860:4860::8888", "172.32.0.1", "nowhere.invalid"]) {
    it.effect(`row 84: CLUSTER_HOST=${host} is refused`, () =>
      Effect.gen(function*() {
        assert.match(
          yield* problems({ ...shared, CLUSTER_HOST: host }),
          /CLUSTER_HOST: .*(public address|leads to no address)/
        )
      }))
  }
})

describe("unknown variables", () => {
  it.effect("that resemble a setting are named, with the intended setting and without their values", () =>
    Effect.gen(function*() {
      const { unknownVariables } = yield* Effect.provide(Environment, Environment.layer).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({
          env: {
            PUBLIC_URL: "https://example.org",
            PUBLC_URL: "secret",
            SMPT_URL: "secret",
            databse_url: "secret",
            S3_HOSTNAME: "secret",
            WEB_DOMAIN: "secret",
            LIMITED_FEDERATION_MODE: "true",
            HOME: "/root",
            HOSTNAME: "here",
            PATH: "/bin",
            POSTGRES_PASSWORD: "secret",
            LANG: "C",
            HTTP_PROXY: "secret"
          }
        })))
      )
      assert.deepStrictEqual(unknownVariables, [
        "LIMITED_FEDERATION_MODE is not a setting of this server; did you mean LIMITED_FEDERATION?",
        "PUBLC_URL is not a setting of this server; did you mean PUBLIC_URL?",
        "S3_HOSTNAME is not a setting of this server.",
        "SMPT_URL is not a setting of this server; did you mean SMTP_URL?",
        "WEB_DOMAIN is not a setting of this server; did you mean PUBLIC_URL?",
        "databse_url is not a setting of this server; did you mean DATABASE_URL?"
      ])
    }))

  it.effect("do not include those that a test or a machine sets anyway", () =>
    Effect.gen(function*() {
      const env = Object.fromEntries(Object.keys(process.env).map((name) => [name, "x"]))
      const { unknownVariables } = yield* Effect.provide(Environment, Environment.layer).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env, PORT: "1", HOST: "127.0.0.1" } })))
      )
      assert.deepStrictEqual(unknownVariables, [])
    }))
})

describe("docs/settings.md", () => {
  it("has the current table of settings", () => {
    assert.include(readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8"), markdown())
  })
})

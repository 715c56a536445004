import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { createECDH } from "node:crypto"
import { givenPair, makePrivateKey } from "../../src/layers/push/VapidKeys.ts"
import * as SecretFile from "../../src/layers/SecretFile.ts"
import { keepInDatabase, layer as secretsLayer, replaceVapidKey } from "../../src/layers/ServerSecrets.ts"
import { Secrets } from "../../src/services/secrets/Secrets.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { testEnvironment } from "../support/TestEnvironment.ts"

const Live = Layer.mergeAll(TestDatabase.layer, NodeServices.layer, NodeCrypto.layer)

const secrets = (variables: Record<string, string>) =>
  Secrets.pipe(Effect.provide(Layer.fresh(secretsLayer.pipe(Layer.provide(testEnvironment(variables))))))
const signingKey = (variables: Record<string, string>) =>
  Effect.map(secrets(variables), ({ signingKey }) => Redacted.value(signingKey))

layer(Live, { excludeTestServices: true })("Secrets", (it) => {
  it.effect("uses SECRET_KEY if it is set", () =>
    Effect.gen(function*() {
      const key = "k".repeat(40)
      const { url } = yield* TestDatabase
      assert.strictEqual(yield* signingKey({ SECRET_KEY: key, DATABASE_URL: url, DATA_DIR: "/nowhere" }), key)
    }))

  it.effect("S-090: the key pair for web push is kept in the same way, and is the same on all nodes", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-secrets-" })
      const { url } = yield* TestDatabase
      for (const variables of [{ DATA_DIR: dataDir }, { DATA_DIR: "/nowhere", DATABASE_URL: url }]) {
        const all = yield* Effect.all(Array.from({ length: 4 }, () => secrets(variables)), { concurrency: 4 })
        const [{ vapid } = yield* secrets(variables)] = all
        assert.deepStrictEqual([...new Set(all.map(({ vapid }) => vapid.publicKey))], [vapid.publicKey])
        const pair = createECDH("prime256v1")
        pair.setPrivateKey(Redacted.value(vapid.privateKey), "base64url")
        assert.strictEqual(pair.getPublicKey("base64url"), vapid.publicKey)
      }
    })))

  it.effect("the key for web push of another server replaces the server's own one, in a folder and in a database", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-secrets-" })
      const { url } = yield* TestDatabase
      const key = yield* makePrivateKey
      for (const variables of [{ DATA_DIR: dataDir }, { DATA_DIR: "/nowhere", DATABASE_URL: url }]) {
        const before = (yield* secrets(variables)).vapid
        for (const privateKey of [key, key]) {
          yield* Effect.provide(replaceVapidKey(Redacted.make(privateKey)), testEnvironment(variables))
        }
        const { vapid } = yield* secrets(variables)
        assert.strictEqual(Redacted.value(vapid.privateKey), key)
        assert.notStrictEqual(vapid.publicKey, before.publicKey)
        assert.deepStrictEqual(givenPair(`${key}=`, `${vapid.publicKey}=`)?.publicKey, vapid.publicKey)
        for (
          const [one, other] of [[key, before.publicKey], ["short", vapid.publicKey], ["_".repeat(43), ""], [
            "",
            ""
          ]] as const
        ) {
          assert.isUndefined(givenPair(one, other))
        }
      }
      const { mode } = yield* fs.stat(`${dataDir}/secrets/vapid_key`)
      assert.strictEqual(mode & 0o777, 0o600)
      assert.deepStrictEqual((yield* fs.readDirectory(`${dataDir}/secrets`)).toSorted(), ["signing_key", "vapid_key"])
    })))

  it.effect("creates one once in DATA_DIR, readable only by its owner, and keeps it", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-secrets-" })
      const first = yield* signingKey({ DATA_DIR: dataDir })
      assert.strictEqual(yield* signingKey({ DATA_DIR: dataDir }), first)
      assert.isAtLeast(first.length, 32)
      const { mode } = yield* fs.stat(`${dataDir}/secrets/signing_key`)
      assert.strictEqual(mode & 0o777, 0o600)
    })))

  it.effect("keeps it in the database if nodes share one, so that nodes that start concurrently agree", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const variables = { DATABASE_URL: url, DATA_DIR: "/nowhere" }
      const keys = yield* Effect.all(Array.from({ length: 8 }, () => signingKey(variables)), { concurrency: 8 })
      assert.strictEqual(new Set(keys).size, 1)
      const other = yield* keepInDatabase("another", Effect.succeed("another secret"))
      assert.strictEqual(Redacted.value(other), "another secret")
    }))

  it.effect("in files: of many concurrent writers the first one wins for all, and nothing else remains", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-secrets-" })
      const secrets = yield* Effect.forEach(
        [1, 2, 3, 4, 5, 6],
        (n) => SecretFile.keep(dataDir, "one", Effect.succeed(`secret ${n}`)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(secrets.map(Redacted.value)).size, 1)
      assert.deepStrictEqual(yield* fs.readDirectory(`${dataDir}/secrets`), ["one"])
    })))
})

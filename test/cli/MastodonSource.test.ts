import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { cli } from "../support/CommandLine.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

layer(Live, { excludeTestServices: true })("npm run cli -- transfer mastodon", (it) => {
  it.effect("F261: an unusable --database or MASTODON_DATABASE_URL is reported within seconds, without its password", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-source-" })
      const env = `${folder}/env`
      yield* fs.writeFileString(env, "LOCAL_DOMAIN=birds.example")
      const plan = (flags: ReadonlyArray<string>, variables: Record<string, string>) =>
        cli(["transfer", "mastodon", "plan", ...flags, "--env", env], {
          DATABASE_URL: url,
          DATA_DIR: folder,
          LOCAL_DOMAIN: "birds.example",
          ...variables
        })
      for (
        const database of [
          "mysql://user:hunter2@localhost/x",
          "user:hunter2@localhost",
          "postgres://user:hunter2@127.0.0.1:99999/x",
          "postgres://user:hunter2@127.0.0.1:1/x?sslmode=bogus",
          "postgres://user:hunter2%zz@127.0.0.1:1/x",
          "postgres://user:hunter2@127.0.0.1:1/x"
        ]
      ) {
        const hidden = { MASTODON_DATABASE_URL: database }
        for (
          const ended of [
            yield* plan(["--database", database], {}),
            yield* plan([], hidden),
            yield* plan(["--database", database], { MASTODON_DATABASE_URL: url })
          ]
        ) {
          assert.notMatch(ended.out + ended.err, /hunter2|(?<!MASTODON_)DATABASE_URL|^ +at /m)
          assert.match(ended.err, /^The database of --database or MASTODON_DATABASE_URL cannot be used: /)
          assert.strictEqual(ended.code, 3, database)
        }
      }
      const neither = yield* plan([], {})
      assert.strictEqual(neither.code, 2)
    })))
})

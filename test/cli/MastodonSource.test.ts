import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { cli } from "../support/CommandLine.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer))

layer(Live, { excludeTestServices: true })("npm run cli -- transfer mastodon", (it) => {
  it.effect("F261: an unusable --database is said in words, without its password and within seconds", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-source-" })
      const env = `${folder}/env`
      yield* fs.writeFileString(env, "LOCAL_DOMAIN=birds.example")
      const plan = (database: string) =>
        cli(["transfer", "mastodon", "plan", "--database", database, "--env", env], {
          DATABASE_URL: url,
          DATA_DIR: folder,
          LOCAL_DOMAIN: "birds.example"
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
        const ended = yield* plan(database)
        assert.notMatch(ended.out + ended.err, /hunter2|DATABASE_URL|^ +at /m)
        assert.match(ended.err, /^The database of --database cannot be used: /)
        assert.strictEqual(ended.code, 3, database)
      }
    })))
})

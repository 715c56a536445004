import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { startInstance } from "../support/Fediverse.ts"
import { picture } from "../support/MediaFiles.ts"
import { freePort } from "../support/ports.ts"
import { printed, start } from "../support/Program.ts"
import { Browser, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/** Starts the program in an empty folder; returns its origin, and the link that it prints for its owner. */
const started = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-stranger-" })
  yield* fs.chmod(folder, 0o755)
  const port = String(yield* freePort)
  const origin = `http://127.0.0.1:${port}`
  const program = yield* start("main", [], {
    HOST: "127.0.0.1",
    PORT: port,
    PUBLIC_URL: origin,
    DATA_DIR: folder,
    OUTBOUND_ALLOW: "127.0.0.0/8"
  })
  yield* printed(program, "setup_token=")
  const [ownerLink = ""] = /http:\S+setup_token=\S+/.exec(program.out()) ?? []
  return { origin, ownerLink }
})

/** Waits until the title counts the reply and the follow; the pages' policy forbids `eval`. */
const titled = `new Promise((resolve) => {
  const look = () => document.title.startsWith("(2) ") ? resolve(true) : setTimeout(look, 20)
  look()
})`

layer(Layer.merge(NodeServices.layer, Browser.layer), { excludeTestServices: true })(
  "a newcomer with only a browser",
  (it) => {
    it.effect(
      "F285: gets from an empty folder to a post with a picture that a member of another server replies to",
      () =>
        Effect.gen(function*() {
          const bytes = yield* Effect.promise(() => picture().png().toBuffer())
          const other = yield* startInstance()
          const bob = yield* other.person("bob")
          const [{ page: own }, { page: far }] = [yield* visit(), yield* visit("phone")]
          // A new server is slow on a busy machine.
          const began = performance.now()
          const { origin, ownerLink } = yield* started
          const marks: Array<string> = []
          const mark = (what: string) => marks.push(`${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s`)
          mark("the server runs")
          yield* Effect.promise(async () => {
            await own.goto(ownerLink)
            await own.getByLabel("Username").fill("ada")
            await own.getByLabel("Email address").fill("ada@example.org")
            await own.getByLabel("Password").fill("correct horse battery")
            await own.getByLabel("Name of the server").fill("Ada's place")
            await own.getByRole("button", { name: "Create account" }).click()
            await own.waitForURL(`${origin}/welcome`)
            mark("the owner is signed in")

            await far.goto(`${other.origin}/home`)
            await signIn(far, bob)
            const follow = far.getByRole("button", { name: /^Follow/ }).first()
            // A search that takes too long on a busy machine finds nothing yet.
            for (let tries = 0; tries < 20; tries++) {
              await far.goto(`${other.origin}/search?q=${encodeURIComponent(`@ada@${new URL(origin).host}`)}`)
              if (await follow.count() > 0) break
            }
            await follow.click()
            await far.getByRole("button", { name: /^(?:Withdraw request|Unfollow)/ }).first().waitFor()
            // The other server accepts in the background.
            for (let tries = 0; tries < 200; tries++) {
              await far.reload()
              if (await far.getByRole("button", { name: /^Unfollow/ }).count() > 0) break
            }
            await far.goto(`${other.origin}/home`)
            mark("somebody follows from another server")

            await own.goto(`${origin}/publish`)
            await own.getByLabel("Text", { exact: true }).fill("My first picture")
            await own.locator("input[type=file]").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: bytes })
            await own.locator(".composed-file textarea").fill("An orange stripe on blue")
            await own.getByRole("button", { name: "Post", exact: true }).click()
            await own.waitForURL(/home/)
            await own.getByAltText("An orange stripe on blue").waitFor()
            mark("the post with a picture is published")

            await far.getByRole("button", { name: "1 new post" }).click()
            const post = far.getByRole("article").filter({ hasText: "My first picture" }).first()
            await post.getByAltText("An orange stripe on blue").waitFor()
            mark("it is on the other server")
            await post.getByRole("link", { name: /^Reply/ }).click()
            await far.waitForLoadState()
            const text = far.locator("textarea[name=text]").first()
            assert.include(await text.inputValue(), `@ada@${new URL(origin).host}`)
            await text.fill(`${await text.inputValue()}What a stripe!`)
            await far.getByRole("button", { name: "Post", exact: true }).click()

            await own.evaluate(titled)
            await own.goto(`${origin}/notifications`)
            await own.getByText("What a stripe!").first().waitFor()
            mark("the reply is there")
          })
          if (process.env["FIGURES"] !== undefined) process.stdout.write(`${marks.join("\n")}\n`)
          assert.lengthOf(marks, 6)
        })
    )
  }
)

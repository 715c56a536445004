import { Effect } from "effect"
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { freePort } from "./ports.ts"

const user = "sam"

/** Runs asynchronously: snac sends requests to our server, which may be in this process. */
const execute = promisify(execFile)

/** Poll interval and maximum polls of a peer's page, as snac does not report changes. */
const lookMillis = 100
const looksMax = 3_000

/** Prepares snac's folder with one account, for http on loopback; returns the password. */
const prepared = (program: string, folder: string, port: number) => {
  const responses = ["127.0.0.1", String(port), `127.0.0.1:${port}`, "", ""]
  execFileSync(program, ["init", folder], { input: `${responses.join("\n")}\n`, stdio: ["pipe", "ignore", "ignore"] })
  const settings = `${folder}/server.json`
  const changed = {
    ...JSON.parse(readFileSync(settings, "utf8")),
    protocol: "http",
    shared_inboxes: true,
    disable_cache: true
  }
  writeFileSync(settings, JSON.stringify(changed))
  const source = execFileSync(program, ["adduser", folder, user], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  const password = /password is (\S+)/.exec(source)?.[1]
  if (password === undefined) throw new Error("snac made no account")
  return password
}

const start = async (program: string, port: number) => {
  const home = mkdtempSync(`${tmpdir()}/murmuration-snac-`)
  const folder = `${home}/data`
  const password = prepared(program, folder, port)
  const child = spawn(program, ["httpd", folder], { stdio: "ignore" })
  const origin = `http://127.0.0.1:${port}`
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
  const responses = () => fetch(`${origin}/${user}`).then(({ ok }) => ok, () => false)
  for (let look = 0; look < looksMax && !(await responses()); look++) await sleep(lookMillis)
  return { program, home, folder, child, origin, authorization, domain: `127.0.0.1:${port}` }
}

type Started = Awaited<ReturnType<typeof start>>

const stop = async ({ child, home }: Started) => {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  }
  rmSync(home, { recursive: true })
}

/** Actions of the peer's account, by its command line or page forms. */
const actions = ({ authorization, folder, origin, program }: Started) => {
  const run = (...args: ReadonlyArray<string>) => Effect.promise(() => execute(program, args))
  const tell = (command: string, ...args: ReadonlyArray<string>) => run(command, folder, user, ...args)
  const submit = (form: string, fields: Record<string, string>) =>
    Effect.promise(async () => {
      const response = await fetch(`${origin}/${user}/admin/${form}`, {
        method: "POST",
        redirect: "manual",
        // snac compares this content type exactly.
        headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ ...fields, redir: "top" })
      })
      if (response.status >= 400) throw new Error(`snac refused ${form}: ${response.status}`)
    })
  const json = (path: string) =>
    Effect.promise(async () => {
      const response = await fetch(new URL(path, origin), { headers: { accept: "application/activity+json" } })
      return await response.json() as {
        readonly orderedItems?: ReadonlyArray<{ readonly object: { readonly id: string; readonly content: string } }>
      }
    })
  /** Ids and contents of its newest posts. */
  const posts = Effect.map(json(`/${user}/outbox`), ({ orderedItems = [] }) => orderedItems.map(({ object }) => object))
  const pageOf = (name: string) =>
    Effect.promise(async () => {
      const response = await fetch(`${origin}/${user}/${name}`, { headers: { authorization } })
      return await response.text()
    })
  const seen = (wanted: Effect.Effect<boolean>) =>
    Effect.gen(function*() {
      for (let look = 0; look < looksMax; look++) {
        if (yield* wanted) return
        yield* Effect.promise(() => sleep(lookMillis))
      }
      throw new Error("snac did not come to see it")
    })

  return {
    follow: (actor: string) => tell("follow", actor),
    unfollow: (actor: string) => tell("unfollow", actor),
    boost: (post: string) => tell("boost", post),
    unboost: (post: string) => tell("unboost", post),
    /** Publishes a public post; returns its id. */
    post: (text: string) =>
      Effect.gen(function*() {
        yield* tell("note", text)
        const found = (yield* posts).find(({ content }) => content.includes(text))
        if (found === undefined) throw new Error("snac made no post")
        return found.id
      }),
    reply: (text: string, post: string) => submit("note", { content: text, in_reply_to: post }),
    /** Presses a button below a post: Like, Unlike, Delete. */
    press: (button: string, post: string, author: string) =>
      submit("action", { action: button, id: post, actor: author }),
    /** Waits until its timeline matches `wanted`. */
    shows: (wanted: (page: string) => boolean) => seen(Effect.map(pageOf("admin"), wanted)),
    /** Waits until its notifications show an activity of this type. */
    waitFor: (type: string) => seen(Effect.map(pageOf("notifications"), (page) => page.includes(type))),
    /** Waits until it has this number of followers. */
    hasFollowers: (count: number) =>
      seen(Effect.sync(() => {
        const files = readdirSync(`${folder}/user/${user}`).includes("followers")
          ? readdirSync(`${folder}/user/${user}/followers`).filter((name) => name.endsWith(".json"))
          : []
        return files.length === count
      }))
  }
}

/** Debian's snac, a fediverse server written in C, on loopback without TLS, with one account. */
export const snacPeer = (program: string) =>
  Effect.flatMap(
    freePort,
    (port) =>
      Effect.acquireRelease(Effect.promise(() => start(program, port)), (peer) => Effect.promise(() => stop(peer)))
  ).pipe(
    Effect.map((peer) =>
      Object.assign(actions(peer), {
        domain: peer.domain,
        handle: `${user}@${peer.domain}`,
        id: `${peer.origin}/${user}`
      })
    )
  )

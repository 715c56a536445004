import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { eventually } from "./Eventually.ts"

type Reply = (request: IncomingMessage, response: ServerResponse) => void

/** Another server on loopback that responds by path and counts its requests. */
export const otherServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const files = new Map<string, Reply>()
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? "")
      const reply = files.get(request.url ?? "")
      if (reply === undefined) response.writeHead(404).end()
      else reply(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return {
      server,
      baseUrl,
      asked,
      /** Publishes a file and returns its URL. */
      put: (path: string, bytes: Uint8Array, type = "image/png") => {
        files.set(path, (_, response) => response.writeHead(200, { "content-type": type }).end(bytes))
        return baseUrl + path
      },
      reply: (path: string, reply: Reply) => {
        files.set(path, reply)
        return baseUrl + path
      },
      timesAsked: (path: string) => asked.filter((one) => one === path).length
    }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    })
)

let count = 0

/** Inserts rows as federation does: a remote account and its public post with remote files. */
export const remotePost = Effect.fnUntraced(function*(files: ReadonlyArray<string>, avatar: string | null = null) {
  const sql = yield* SqlClient.SqlClient
  const [now, name] = [Date.now(), `remote${++count}`]
  const at = new Date(now)
  const [account] = yield* sql<{ id: bigint }>`
    INSERT INTO accounts (id, username, domain, uri, url, display_name, avatar_remote_url, header_remote_url, created_at, updated_at)
    VALUES (next_id(${now}), ${name}, 'else.test', ${`https://else.test/${name}`}, ${`https://else.test/@${name}`}, ${name},
      ${avatar}, ${avatar}, ${at}, ${at}) RETURNING id`
  const accountId = account!.id
  const [status] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, text, html, spoiler_text, visibility, conversation_id, local, uri, url, created_at)
    VALUES (next_id(${now}), ${accountId}, 'look', '<p>look</p>', '', 'public', 1, false,
      ${`https://else.test/${name}/1`}, ${`https://else.test/@${name}/1`}, ${at}) RETURNING id`
  const statusId = status!.id
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${statusId})`
  const ids: Array<bigint> = []
  for (const url of files) {
    const [media] = yield* sql<{ id: bigint }>`
      INSERT INTO media_attachments (id, account_id, status_id, type, state, remote_url, created_at, touched_at)
      VALUES (next_id(${now}), ${accountId}, ${statusId}, 'image', 'ready', ${url}, ${at}, ${at}) RETURNING id`
    ids.push(media!.id)
  }
  yield* sql`UPDATE statuses SET media_ids = ${ids}::bigint[] WHERE id = ${statusId}`
  return { accountId, statusId, username: name }
})

/** Waits for the avatar hash of a post's author, and returns it. */
export const avatarHashOf = (statusId: bigint) =>
  SqlClient.SqlClient.use((sql) =>
    eventually(
      Effect.map(
        sql<{ avatarHash: bigint | null }>`SELECT a.avatar_hash FROM accounts a JOIN statuses s ON s.account_id = a.id
          WHERE s.id = ${statusId}`,
        ([row]) => row?.avatarHash
      ),
      (hash) => typeof hash === "bigint"
    )
  )

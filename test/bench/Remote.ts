import { generateKeyPairSync, sign } from "node:crypto"
import * as Cavage from "../../src/services/federation/signatures/Cavage.ts"
import type { Query } from "./Backing.ts"
import type { Request } from "./load/Connection.ts"
import { authorOf, firstReaderNumber, type People, readersCount } from "./People.ts"

/* Remote accounts whose keys the measured server already knows. */

/** Number of remote accounts, of their servers, and of the key pairs that they share. */
export const remotePeople = 1_000
const remoteServers = 200
const keyPairs = 50

export interface Remote {
  /** Creates, Likes and Announces of all remote accounts, each unique and signed now. */
  readonly activities: (port: number, count: number) => ReadonlyArray<Request>
}

const actorOf = (number: number) => `https://server${number % remoteServers}.example/users/remote${number}`

/** Inserts remote accounts. Each has two local followers, so that its posts are stored. */
export const seedRemote = async (query: Query, people: People): Promise<Remote> => {
  const keys = Array.from({ length: keyPairs }, () =>
    generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" }
    }))
  const now = new Date().toISOString()
  const base = (BigInt(Date.now() - 40 * 86_400_000) << 16n).toString()
  const each = (select: string) => `SELECT ${select} FROM generate_series(1, ${remotePeople}) n`
  const uri = `'https://server' || n % ${remoteServers} || '.example/users/remote' || n`
  await query(`INSERT INTO accounts (id, username, domain, uri, url, created_at, updated_at)
    ${
    each(
      `${base} + n, 'remote' || n, 'server' || n % ${remoteServers} || '.example', ${uri}, ${uri}, '${now}', '${now}'`
    )
  }`)
  await query(`INSERT INTO actors (account_id) ${each(`${base} + n`)}`)
  await query(`INSERT INTO account_stats (account_id) ${each(`${base} + n`)}`)
  await query(`INSERT INTO remote_actors (account_id, type, inbox_url, followers_url, fetched_at)
    ${each(`${base} + n, 'Person', ${uri} || '/inbox', ${uri} || '/followers', '${now}'`)}`)
  const pems = keys.map(({ publicKey }) => `'${publicKey}'`).join(",")
  await query(`INSERT INTO remote_keys (key_id, account_id, public_pem)
    ${each(`${uri} || '#main-key', ${base} + n, (ARRAY[${pems}])[n % ${keyPairs} + 1]`)}`)
  for (const more of [0, 1]) {
    await query(`INSERT INTO follows (id, account_id, target_account_id, created_at)
      ${
      each(
        `${base} + n + ${(more + 1) * 100_000}, ${
          people.accountId(firstReaderNumber)
        } + (n * 7 + ${more}) % ${readersCount},
        ${base} + n, '${now}'`
      )
    }`)
  }
  await query("ANALYZE")

  let activityCount = 0
  const documentOf = (number: number, port: number) => {
    const by = actorOf(number)
    const id = `${by}/activities/${++activityCount}`
    const head = { "@context": "https://www.w3.org/ns/activitystreams", id, actor: by }
    const to = ["https://www.w3.org/ns/activitystreams#Public"]
    const cc = [`${by}/followers`]
    const at = (activityCount + Math.floor(activityCount / people.statusIds.length) * 13) % people.statusIds.length
    const liked = people.statusIds[at] ?? 0n
    const author = authorOf(at)
    const object = `http://localhost:${port}/users/person${author}/statuses/${liked}`
    if (activityCount % 20 < 5) return { ...head, type: "Like", object }
    if (activityCount % 20 < 8) {
      return { ...head, type: "Announce", object, to, cc, published: new Date().toISOString() }
    }
    const content =
      `<p>Post ${activityCount} of somebody elsewhere, with as many words as people use, and <a href="https://a.example/">a link</a>.</p>`
    const note = {
      id: `${by}/notes/${activityCount}`,
      type: "Note",
      attributedTo: by,
      content,
      to,
      cc,
      url: `${by}/notes/${activityCount}`
    }
    return { ...head, type: "Create", to, cc, object: { ...note, published: new Date().toISOString() } }
  }

  return {
    activities: (port, count) =>
      Array.from({ length: count }, (_, at): Request => {
        const number = 1 + at % remotePeople
        const body = JSON.stringify(documentOf(number, port))
        const bytes = new TextEncoder().encode(body)
        const { base: text, headers } = Cavage.toSign({
          method: "POST",
          url: new URL(`http://localhost:${port}/inbox`),
          headers: { "content-type": "application/activity+json" },
          keyId: `${actorOf(number)}#main-key`,
          now: Date.now(),
          body: bytes
        })
        const signature = sign("sha256", text, keys[number % keyPairs]?.privateKey ?? "")
        return { method: "POST", path: "/inbox", body, headers: { host: `localhost:${port}`, ...headers(signature) } }
      })
  }
}

import { createFederation, generateCryptoKeyPair, MemoryKvStore, type RequestContext } from "@fedify/fedify"
import {
  Accept,
  Activity,
  Announce,
  Create,
  Delete,
  EmojiReact,
  Endpoints,
  Follow,
  Like,
  Note,
  Person,
  PUBLIC_COLLECTION,
  QuoteAuthorization,
  QuoteRequest,
  ReplyAuthorization,
  ReplyRequest,
  Tombstone,
  Undo,
  Update
} from "@fedify/vocab"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { webRequest } from "./WebRequests.ts"

/** An activity that the peer received and whose signature Fedify verified. */
export interface ReceivedActivity {
  readonly type: string
  readonly actor: string
  readonly object: string
  /** Text of the object, or the emoji of a reaction. */
  readonly content: string | undefined
  /** Result of the activity, such as the consent that was given. */
  readonly result: string | undefined
}

const identifier = "faye"

const receivedOf = async (activity: Activity): Promise<ReceivedActivity> => {
  const object = activity instanceof Create || activity instanceof Update ? await activity.getObject() : undefined
  const source = object ?? (activity instanceof EmojiReact ? activity : undefined)
  return {
    type: activity.constructor.name,
    actor: activity.actorId?.href ?? "",
    object: (object?.id ?? activity.objectId)?.href ?? "",
    content: source?.content?.toString(),
    result: activity.resultId?.href
  }
}

const start = async () => {
  const received: Array<ReceivedActivity> = []
  const listeners = new Set<() => void>()
  const notes = new Map<string, Note>()
  const followers = new Map<string, { readonly id: URL; readonly inboxId: URL; readonly endpoints: null }>()
  const pairs = [await generateCryptoKeyPair("RSASSA-PKCS1-v1_5"), await generateCryptoKeyPair("Ed25519")]
  const federation = createFederation<void>({ kv: new MemoryKvStore(), allowPrivateAddress: true })

  federation.setActorDispatcher("/users/{identifier}", async (context, name) => {
    if (name !== identifier) return null
    const keys = await context.getActorKeyPairs(name)
    return new Person({
      id: context.getActorUri(name),
      preferredUsername: name,
      name: "Faye of Fedify",
      summary: "<p>Writes in <em>another</em> language</p>",
      url: context.getActorUri(name),
      inbox: context.getInboxUri(name),
      endpoints: new Endpoints({ sharedInbox: context.getInboxUri() }),
      followers: context.getFollowersUri(name),
      outbox: context.getOutboxUri(name),
      ...(keys[0] === undefined ? {} : { publicKey: keys[0].cryptographicKey }),
      assertionMethods: keys.map(({ multikey }) => multikey)
    })
  }).setKeyPairsDispatcher(() => pairs)
  federation.setFollowersDispatcher("/users/{identifier}/followers", () => ({
    items: [...followers.values()]
  }))
  federation.setOutboxDispatcher("/users/{identifier}/outbox", () => ({ items: [] }))
  federation.setObjectDispatcher(
    Note,
    "/users/{identifier}/notes/{id}",
    (context, { id, identifier: name }) => notes.get(context.getObjectUri(Note, { id, identifier: name }).href) ?? null
  )

  const record = async (activity: Activity) => {
    received.push(await receivedOf(activity))
    for (const listener of listeners) listener()
  }
  federation.setInboxListeners("/users/{identifier}/inbox", "/inbox")
    .setSharedKeyDispatcher(() => ({ identifier }))
    .on(Follow, async (context, follow) => {
      const follower = await follow.getActor(context)
      if (!follower?.id || !follower.inboxId) throw new Error("a follow without a follower")
      followers.set(follower.id.href, { id: follower.id, inboxId: follower.inboxId, endpoints: null })
      await record(follow)
      await context.sendActivity(
        { identifier },
        follower,
        new Accept({
          id: new URL(`#accepts/${received.length}`, context.getActorUri(identifier)),
          actor: context.getActorUri(identifier),
          object: follow
        })
      )
    })
    .on(Activity, async (_, activity) => {
      await record(activity)
    })

  const server = createServer((request, response) => {
    const reply = async () => {
      const found = await federation.fetch(await webRequest(request, origin), { contextData: undefined })
      response.writeHead(found.status, Object.fromEntries(found.headers)).end(Buffer.from(await found.arrayBuffer()))
    }
    reply().catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const domain = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `http://${domain}`
  const context = (): RequestContext<void> => federation.createContext(new Request(origin), undefined)
  return { server, domain, origin, received, listeners, notes, followers, context }
}

type Started = Awaited<ReturnType<typeof start>>

/** Actions of the peer's account; ids come from a counter. */
const actions = ({ context, notes }: Started) => {
  let count = 0
  const me = () => context().getActorUri(identifier)
  const next = (kind: string) => new URL(`#${kind}/${++count}`, me())
  const send = async (to: string, activity: Activity) => {
    const recipient = await context().lookupObject(to)
    if (!(recipient instanceof Person)) throw new Error(`${to} is no person: ${recipient?.constructor.name}`)
    await context().sendActivity({ identifier }, recipient, activity, { immediate: true })
  }
  const to = PUBLIC_COLLECTION
  const promise = <A>(work: () => Promise<A>) => Effect.promise(work)
  const tell = <A extends Activity>(recipient: string, activity: A) =>
    promise(async () => {
      await send(recipient, activity)
      return activity
    })

  return {
    id: () => me().href,
    follow: (whom: string) => tell(whom, new Follow({ id: next("follows"), actor: me(), object: new URL(whom) })),
    like: (post: string, whom: string) =>
      tell(whom, new Like({ id: next("likes"), actor: me(), object: new URL(post) })),
    react: (post: string, whom: string, content: string) =>
      tell(whom, new EmojiReact({ id: next("reactions"), actor: me(), object: new URL(post), content })),
    boost: (post: string, whom: string) =>
      tell(whom, new Announce({ id: next("boosts"), actor: me(), object: new URL(post), to })),
    undo: (what: Follow | Like | Announce | EmojiReact, whom: string) =>
      tell(whom, new Undo({ id: next("undos"), actor: me(), object: what })),
    /** Sends a post to an inbox; returns its id. */
    post: (content: string, whom: string, replyTo?: string) =>
      promise(async () => {
        const id = context().getObjectUri(Note, { identifier, id: String(++count) })
        const note = new Note({
          id,
          attribution: me(),
          content,
          to,
          ...(replyTo === undefined ? {} : { replyTarget: new URL(replyTo) })
        })
        notes.set(id.href, note)
        await send(whom, new Create({ id: next("creates"), actor: me(), object: note, to }))
        return id.href
      }),
    /** Asks to reply to a post or to quote it; returns the id of the intended post. */
    request: (kind: "reply" | "quote", content: string, post: string, whom: string) =>
      promise(async () => {
        const id = context().getObjectUri(Note, { identifier, id: String(++count) })
        const [at, object] = [new URL(post), { actor: me(), object: new URL(post) }]
        const note = new Note({
          id,
          attribution: me(),
          content,
          to,
          ...(kind === "reply" ? { replyTarget: at } : { quote: at })
        })
        notes.set(id.href, note)
        const asked = { id: next("requests"), ...object, instrument: note }
        await send(whom, kind === "reply" ? new ReplyRequest(asked) : new QuoteRequest(asked))
        return id.href
      }),
    /** Fetches a consent from the given address; returns its type, author, interaction and target. */
    consent: (address: string) =>
      promise(async () => {
        const found = await context().lookupObject(address)
        if (!(found instanceof ReplyAuthorization || found instanceof QuoteAuthorization)) return undefined
        return [
          found.constructor.name,
          found.attributionId?.href,
          found.interactingObjectId?.href,
          found.interactionTargetId?.href
        ]
      }),
    remove: (post: string, whom: string) =>
      promise(async () => {
        notes.delete(post)
        await send(
          whom,
          new Delete({ id: next("deletes"), actor: me(), object: new Tombstone({ id: new URL(post) }), to })
        )
      })
  }
}

/**
 * A server built with Fedify, another implementation of ActivityPub, on loopback without TLS. Its one account accepts
 * every follow and records what it receives.
 */
export const fedifyPeer = Effect.acquireRelease(
  Effect.promise(start),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    })
).pipe(Effect.map((peer) => {
  const done = actions(peer)
  return Object.assign(done, {
    domain: peer.domain,
    handle: `${identifier}@${peer.domain}`,
    followers: peer.followers,
    /** Waits until the peer has received `times` activities that match `wanted`; returns the last of them. */
    waitFor: (wanted: (received: ReceivedActivity) => boolean, times = 1) =>
      Effect.callback<ReceivedActivity>((resume) => {
        const look = () => {
          const found = peer.received.filter(wanted).at(times - 1)
          if (found === undefined) return
          peer.listeners.delete(look)
          resume(Effect.succeed(found))
        }
        peer.listeners.add(look)
        look()
      })
  })
}))

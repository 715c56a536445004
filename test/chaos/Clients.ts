import { Agent } from "node:http"
import { type Account } from "../cluster/Nodes.ts"
import { Dice } from "../simulation/Seeded.ts"
import type { Entry, Kind, Ledger } from "./Ledger.ts"
import type { NodeSlot } from "./Machines.ts"
import { send } from "./Requests.ts"

/** Delay before a client's retry, in milliseconds; it doubles up to `max`. */
const pauseMillis = { first: 500, max: 4_000 }
/** Time for which clients retry a command after the last fault, in milliseconds. */
export const retryMillis = 90_000
/** Number of newest posts that commands refer to. */
const recentMax = 200

interface Post {
  readonly id: string
  readonly by: string
}

interface Command {
  readonly kind: Kind
  readonly target: string
  readonly method: string
  readonly path: string
  readonly form?: Record<string, string>
  readonly text?: string
}

const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/**
 * Clients of all accounts. Each command has its own key, and is sent to the nodes in turn, as by a plain load balancer,
 * until one responds. Of two commands on one target, the second waits for the response to the first.
 */
export class Clients {
  private readonly dice: Dice
  /** The newest posts that are not deleted. */
  private readonly posts: Array<Post> = []
  private readonly deleted = new Set<string>()
  /** Current effects by account and target. */
  private readonly effects = new Map<bigint, Map<string, Command>>()
  private readonly busy = new Set<string>()
  private readonly pending = new Set<Promise<void>>()
  private turn = 0
  private sent = 0
  private stoppedAt = Infinity
  private readonly ledger: Ledger
  private readonly slots: ReadonlyArray<NodeSlot>
  private readonly people: ReadonlyArray<Account>
  private readonly agents: ReadonlyArray<Agent>

  constructor(seed: number, ledger: Ledger, slots: ReadonlyArray<NodeSlot>, people: ReadonlyArray<Account>) {
    this.dice = new Dice(seed, "clients")
    this.ledger = ledger
    this.slots = slots
    this.people = people
    this.agents = slots.map(() => new Agent({ keepAlive: true }))
  }

  /** Number of commands without a response. */
  get waiting() {
    return this.pending.size
  }

  /** Lets every account follow the next `each` accounts. */
  async followOthers(each: number) {
    for (const [n, by] of this.people.entries()) {
      const targets = Array.from({ length: each }, (_, k) => this.people[(n + k + 1) % this.people.length]!)
      await Promise.all(targets.map((target) => this.execute(by, follow(target))))
    }
  }

  /** Sends `rate` commands per second, and reads a home after every eighth, until `stop`. */
  async run(rate: number) {
    const began = this.ledger.now
    for (let n = 0; this.stoppedAt === Infinity; n++) {
      const late = began + n * 1000 / rate - this.ledger.now
      if (late > 0) await wait(late)
      this.start(() => this.sendCommand())
      if (n % 8 === 0) this.start(() => this.readHome())
    }
    await Promise.all(this.pending)
  }

  /** Stops new commands; retries continue. */
  stop() {
    this.stoppedAt = this.ledger.now
  }

  private start(work: () => Promise<void>) {
    const running = work().finally(() => this.pending.delete(running))
    this.pending.add(running)
  }

  private async sendCommand() {
    const by = this.dice.pick(this.people)
    const command = this.drawCommand(by)
    const lockKey = lockKeyOf(by.id, command)
    if (this.busy.has(lockKey)) return
    this.busy.add(lockKey)
    try {
      await this.execute(by, command)
    } finally {
      this.busy.delete(lockKey)
    }
  }

  private drawCommand(by: Account): Command {
    const { dice, people, posts } = this
    const post = posts.length === 0 ? undefined : dice.pick(posts)
    const ownPosts = posts.filter((one) => one.by === String(by.id))
    const other = dice.pick(people.filter((one) => one !== by))
    const text = `chaos ${++this.sent}.`
    const mention = dice.chance(0.25) ? ` @${other.username}` : ""
    const publish: Command = {
      kind: "post",
      target: text,
      method: "POST",
      path: "/api/v1/statuses",
      form: { status: text + mention }
    }
    const undoable = [...this.effects.get(by.id)?.values() ?? []].filter(({ target }) => !this.deleted.has(target))
    const undone = undoable.length === 0 ? undefined : dice.pick(undoable)
    const on = (kind: Kind, { id }: Post): Command => ({
      kind,
      target: id,
      method: "POST",
      path: `/api/v1/statuses/${id}/${kind}`
    })
    const own = ownPosts.length === 0 ? undefined : dice.pick(ownPosts)
    return dice.weighted<Command>([
      [30, publish],
      ...(post === undefined ? [] : [
        [14, on("favourite", post)],
        [7, on("reblog", post)],
        [4, on("bookmark", post)]
      ] as const),
      ...(undone === undefined ? [] : [[16, opposite(undone)]] as const),
      ...(own === undefined ? [] : [
        [8, { ...on("edit", own), method: "PUT", path: `/api/v1/statuses/${own.id}`, form: { status: text }, text }],
        [4, { ...on("delete", own), method: "DELETE", path: `/api/v1/statuses/${own.id}` }]
      ] as const),
      [4, follow(other)]
    ])
  }

  /** Retries until a node responds. */
  private async execute(by: Account, command: Command) {
    const { ledger } = this
    const entry: Entry = {
      kind: command.kind,
      by: String(by.id),
      target: command.target,
      text: command.text,
      began: ledger.now,
      attempts: [],
      outcome: "unknown",
      id: undefined
    }
    ledger.entries.push(entry)
    const key = `${command.kind}-${ledger.entries.length}`
    while (entry.outcome === "unknown" && ledger.now < this.stoppedAt + retryMillis) {
      const { status, text } = await this.request(by, command, entry.attempts, key)
      if (status >= 200 && status < 300) {
        entry.outcome = "done"
        if (command.kind === "post") entry.id = String(JSON.parse(text).id)
      } else if (status >= 400 && status < 500 && status !== 429) {
        // The effect of an earlier attempt is gone, or never happened: the outcome is unknown.
        if (entry.attempts.length === 1) entry.outcome = "refused"
        break
      } else await wait(Math.min(pauseMillis.first * 2 ** (entry.attempts.length - 1), pauseMillis.max))
    }
    if (entry.outcome === "done") this.recordEffect(by, command, entry.id)
  }

  private recordEffect(by: Account, command: Command, id: string | undefined) {
    const { deleted, posts } = this
    const effects = this.effects.get(by.id) ?? new Map<string, Command>()
    this.effects.set(by.id, effects)
    const lockKey = lockKeyOf(by.id, command)
    if (command.kind === "post" && id !== undefined) {
      posts.push({ id, by: String(by.id) })
      if (posts.length > recentMax) posts.shift()
    } else if (command.kind === "delete") {
      deleted.add(command.target)
      const at = posts.findIndex((post) => post.id === command.target)
      if (at >= 0) posts.splice(at, 1)
    } else if (command.kind in opposites) effects.set(lockKey, command)
    else effects.delete(lockKey)
  }

  private async readHome() {
    const by = this.dice.pick(this.people)
    await this.request(by, { kind: "home", method: "GET", path: "/api/v1/timelines/home" }, this.ledger.readings)
  }

  private async request(
    by: Account,
    { form, kind, method, path }: Pick<Command, "method" | "path" | "form"> & { readonly kind: Kind | "home" },
    attempts: Entry["attempts"],
    key?: string
  ) {
    const turn = this.turn++ % this.slots.length
    const slot = this.slots[turn]!
    const began = this.ledger.now
    const body = form === undefined ? undefined : new URLSearchParams(form).toString()
    const headers = {
      authorization: `Bearer ${by.token}`,
      ...(key !== undefined && { "idempotency-key": key }),
      ...(body !== undefined && {
        "content-type": "application/x-www-form-urlencoded",
        "content-length": String(Buffer.byteLength(body))
      })
    }
    const response = await send(this.agents[turn]!, slot.baseUrl + path, method, headers, body, kind === "post")
    attempts.push({ began, ended: this.ledger.now, status: response.status, slot: slot.name })
    return response
  }
}

const follow = ({ id }: Account): Command => ({
  kind: "follow",
  target: String(id),
  method: "POST",
  path: `/api/v1/accounts/${id}/follow`
})

const opposites: Partial<Record<Kind, Kind>> = {
  favourite: "unfavourite",
  reblog: "unreblog",
  bookmark: "unbookmark",
  follow: "unfollow"
}

const opposite = (done: Command): Command => {
  const kind = opposites[done.kind] ?? done.kind
  return { ...done, kind, path: done.path.replace(new RegExp(`/${done.kind}$`), `/${kind}`) }
}

/** Returns the key under which commands are serialised: an account's favourite of a post, the text of a post. */
const lockKeyOf = (by: bigint, { target, kind }: Command) =>
  kind === "edit" || kind === "delete" ? target : `${by} ${kind.replace(/^un/, "")} ${target}`

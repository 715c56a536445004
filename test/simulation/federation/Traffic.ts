import { keyOf } from "../../../src/services/federation/inbox/Recording.ts"
import { knownBy } from "../../../src/services/federation/inbox/RepeatedActivities.ts"
import { deliveryBackoff } from "../../../src/services/federation/outbox/Retries.ts"
import type { Aftermath } from "./Agreement.ts"
import type { Exchange } from "./Exchange.ts"
import type { ServerState } from "./ServerStates.ts"

interface Activity {
  readonly id: string
  readonly type: string
  readonly actor: string
  /** Id of the object. */
  readonly object: string
  /** Key of its record at the receiver. */
  readonly key: string
  readonly exchange: Exchange
}

const idIn = (value: unknown): string => {
  if (typeof value === "string") return value
  return typeof value === "object" && value !== null && "id" in value ? String(value.id) : ""
}

const activityOf = (exchange: Exchange): Activity => {
  const document: Record<string, unknown> = JSON.parse(exchange.text)
  const { id, object, type } = document
  const actor = idIn(document["actor"])
  const key = keyOf(knownBy(document, actor).uri, exchange.text)
  return { id: String(id), type: String(type), actor, object: idIn(object), key, exchange }
}

const taken = ({ exchange: { responses } }: Activity) => responses.find(({ status }) => status >= 200 && status < 300)

/**
 * Checks the network's traffic: each delivery ended within its attempts (I5), in order (I6); accepted ones were
 * processed and recorded (I8); and servers received only what was for them (I11). `harmed` counts faults after which an
 * accepted delivery is sent again.
 */
export const check = (
  aftermath: Aftermath,
  exchanges: ReadonlyArray<Exchange>,
  crashes: number
): ReadonlyArray<string> => {
  const sent = exchanges.filter(({ method }) => method === "POST").map(activityOf)
  return [
    ...checkAttempts(sent, crashes),
    ...checkOrder(sent),
    ...checkRecords(sent, aftermath.states),
    ...checkAudiences(exchanges, aftermath)
  ]
}

const checkAttempts = (sent: ReadonlyArray<Activity>, crashes: number) => {
  const broken: Array<string> = []
  let again = 0
  for (const [what, tries] of Map.groupBy(sent, ({ exchange: { url }, id }) => `${id} to ${url.href}`)) {
    // Acceptance by a proxy counts as acceptance for the sender.
    if (!tries.some(taken)) broken.push(`I5: ${what} never arrived: ${statuses(tries)}`)
    if (tries.length > deliveryBackoff.triesMax) broken.push(`I5: ${what} was sent ${tries.length} times`)
    const heard = tries.findIndex(({ exchange }) => exchange.takenAt !== undefined)
    again += heard === -1 ? 0 : tries.length - heard - 1
    const bad = tries.flatMap(({ exchange: { responses } }) => responses.map(({ status }) => status)).filter((status) =>
      // After 401 a sender uses another signature scheme; after 503 it retries.
      status >= 400 && status !== 401 && status !== 503
    )
    if (bad.length > 0) broken.push(`I5: ${what} got the responses ${bad}`)
  }
  // A sender that dies repeats its deliveries in flight: eight concurrent requests per host, eight deliveries each.
  if (again > crashes * 8) broken.push(`I5: ${again} deliveries were sent again after they were accepted`)
  return broken
}

const statuses = (tries: ReadonlyArray<Activity>) =>
  tries.map(({ exchange: { responses } }) => responses.map(({ status }) => status).join("+") || "nothing").join(", ")

/** Checks that Create precedes its Update, both precede the Delete, and none follows an accepted Delete. */
const checkOrder = (sent: ReadonlyArray<Activity>) => {
  const broken: Array<string> = []
  const posts = sent.filter(({ type }) => type === "Create" || type === "Update" || type === "Delete")
  for (const [what, all] of Map.groupBy(posts, ({ exchange: { url }, object }) => `${object} at ${url.host}`)) {
    const takenAt = (type: string) =>
      all.find((one) => one.type === type && one.exchange.takenAt !== undefined)?.exchange.takenAt
    const [createdAt, deletedAt] = [takenAt("Create"), takenAt("Delete")]
    for (const { exchange: { askedAt }, id, type } of all) {
      if (type === "Update" && createdAt !== undefined && askedAt < createdAt) {
        broken.push(`I6: ${id} was sent before the Create of ${what} was accepted`)
      }
      if (type !== "Delete" && deletedAt !== undefined && askedAt > deletedAt) {
        broken.push(`I5: ${id} was sent after the Delete of ${what} was accepted`)
      }
    }
  }
  return broken
}

const checkRecords = (sent: ReadonlyArray<Activity>, states: ReadonlyArray<ServerState>) => {
  const broken: Array<string> = []
  const at = new Map(
    states.map(({ host, inbound }) => [host, new Map(inbound.map((row) => [`${row.actor} ${row.uri}`, row]))])
  )
  for (const one of sent) {
    const { actor, exchange: { to }, id, key } = one
    if (taken(one) === undefined) continue
    const row = at.get(to)?.get(`${actor} ${key}`)
    if (row === undefined) broken.push(`I8: ${to} accepted ${id} without a record`)
    else if (row.outcome === null) broken.push(`I8: ${to} accepted ${id} and never processed it`)
  }
  for (const { host, inbound } of states) {
    for (const { outcome, uri } of inbound) {
      if (outcome?.startsWith("set aside") === true) broken.push(`I8: ${host} set aside ${uri}: ${outcome}`)
    }
  }
  return broken
}

/**
 * Checks by the number in each post's text that a restricted post reaches only its recipients' hosts, in any message.
 */
const checkAudiences = (exchanges: ReadonlyArray<Exchange>, { states, sentCommands, followed }: Aftermath) => {
  const broken: Array<string> = []
  const allowed = new Map<string, ReadonlySet<string>>()
  for (const { by, command, mentions, n } of sentCommands) {
    if (command._tag !== "Publish") continue
    const { visibility } = command.post
    if (visibility !== "private" && visibility !== "direct") continue
    const followers = visibility === "direct" ? [] : [
      ...[...followed].filter((pair) => pair.endsWith(` ${by.handle}`)).map((pair) => pair.split(" ")[0]),
      ...sentCommands.filter((sent) => sent.command._tag === "Follow" && sent.target === by).map((sent) =>
        sent.by.handle
      )
    ]
    const named = states.flatMap(({ statuses }) =>
      statuses.filter(({ local, text }) => local && text.includes(`post-${n}.`)).flatMap((status) => status.mentions)
    )
    const later = sentCommands.flatMap((sent) =>
      sent.command._tag === "Edit" && sent.command.text.startsWith(`post-${n}.`) ? sent.mentions : []
    )
    const handles = [by.handle, ...followers, ...named, ...[...mentions, ...later].map(({ handle }) => handle)]
    allowed.set(String(n), new Set(handles.map((handle) => handle?.split("@")[1] ?? "")))
  }
  const checkText = (text: string, host: string, how: string) => {
    for (const [, n = ""] of text.matchAll(/post-(\d+)\./g)) {
      if (allowed.get(n)?.has(host) === false) broken.push(`I11: ${host} saw post ${n} in ${how}`)
    }
  }
  for (const { responses, from, text, to, url } of exchanges) {
    checkText(text, to, `a delivery of ${from}`)
    for (const response of responses) checkText(response.text, from, `a response of ${url.href}`)
  }
  return broken
}

import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DomainActors } from "../../../actors/domain/DomainActors.ts"
import { type Relay, Relays } from "../../../services/federation/relays/Relays.ts"
import { RemoteLookup } from "../../../services/federation/RemoteLookup.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminRelay, RelayWrite } from "../wire/AdminFederation.ts"

const reading = Access.staff("manageFederation", "admin:read")
const writing = Access.staff("manageFederation", "admin:write")
const path = "/api/v1/admin/relays"
const one = { params: IdPath, success: AdminRelay }

export class AdminRelaysGroup extends HttpApiGroup.make("admin/relays")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(AdminRelay) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: RelayWrite, success: AdminRelay }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.post("enable", `${path}/:id/enable`, one).annotate(Access, writing),
    HttpApiEndpoint.post("disable", `${path}/:id/disable`, one).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shown = ({ createdAt, id, inboxUrl, kind, state }: Relay) =>
  json<AdminRelay>({ id: String(id), kind, inboxUrl, state, createdAt: timestamp(createdAt) })

/** Relays, which receive and send public posts (S-235). */
export const layer = group(
  AdminRelaysGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* DomainActors
    const lookup = yield* RemoteLookup
    const relays = yield* Relays

    const change = (name: "enable" | "disable") =>
      traced(`admin.relays.${name}`)(function*({ params }: { readonly params: { readonly id: bigint } }) {
        const { hosts, relay } = yield* relays[name](yield* Caller.account, params.id)
        yield* actors.wake(hosts)
        return Reply.json(shown(relay))
      })

    return handlers.handleAll({
      list: traced("admin.relays.list")(function*() {
        return Reply.list((yield* relays.list).map(shown))
      }),
      create: traced("admin.relays.create")(function*({ payload }) {
        const by = yield* Caller.account
        const actorUrl = payload.actorUrl?.trim() ?? ""
        const found = actorUrl === "" ? undefined : yield* lookup.resolve(by, actorUrl)
        if (actorUrl !== "" && found?.kind !== "account") return yield* validationFailed("Actor url is invalid")
        const { hosts, relay } = yield* relays.create(
          by,
          found === undefined ? { inboxUrl: payload.inboxUrl ?? "" } : { accountId: found.id }
        )
        yield* actors.wake(hosts)
        return Reply.json(shown(relay))
      }),
      show: traced("admin.relays.show")(({ params }) =>
        Effect.map(relays.find(params.id), (relay) => Reply.json(shown(relay)))
      ),
      enable: change("enable"),
      disable: change("disable"),
      remove: traced("admin.relays.remove")(function*({ params }) {
        yield* actors.wake(yield* relays.remove(yield* Caller.account, params.id))
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(Relays.layer))

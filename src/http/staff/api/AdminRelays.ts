import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { DomainActors } from "../../../actors/domain/DomainActors.ts"
import { type Relay, Relays } from "../../../services/federation/relays/Relays.ts"
import { RemoteLookup } from "../../../services/federation/RemoteLookup.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminRelay, RelayWrite } from "../wire/AdminFederation.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"

const path = "/api/v1/admin/relays"
const at = staffEndpoints({ path, permission: "manageFederation", row: AdminRelay, write: RelayWrite })

export class AdminRelaysGroup extends HttpApiGroup.make("admin/relays")
  .add(
    at.wholeList,
    at.create,
    at.show,
    at.act("enable"),
    at.act("disable"),
    at.remove
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

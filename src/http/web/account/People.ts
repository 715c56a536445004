import { Effect } from "effect"
import { Relationships } from "../../../services/social/Relationships.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { read } from "../../wire/Keys.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ShownAccount } from "../status/StatusText.ts"
import { accountRow } from "./AccountRow.ts"
import type { ShownRelationship } from "./FollowForm.ts"

/** An account with the viewer's relationship to it, which visitors do not have. */
export interface Person {
  readonly account: ShownAccount
  readonly relationship: ShownRelationship | undefined
}

/** Makes functions that load people for pages, with two queries for any number of them. Made once per group. */
export const make = Effect.gen(function*() {
  const views = yield* AccountViews
  const relationships = yield* Relationships

  /** Returns people by id, without those that do not exist. */
  const byId = Effect.fnUntraced(function*({ viewer }: Visit, ids: ReadonlyArray<bigint>) {
    const shown = yield* views.byId(new Set(ids))
    const found = viewer === undefined ? [] : yield* relationships.of(viewer, ids)
    const known = new Map(found.map((one) => [one.id, one]))
    return new Map(
      Array.from(shown, ([id, account]): [bigint, Person] => [id, {
        account: read(account),
        relationship: known.get(id)
      }])
    )
  })

  /** Returns people in the order of `ids`. */
  const load = (visit: Visit, ids: ReadonlyArray<bigint>) =>
    Effect.map(byId(visit, ids), (found) => ids.flatMap((id) => found.get(id) ?? []))

  return { byId, load }
})

/** Renders rows as a list. */
export const listOf = (rows: ReadonlyArray<Html>): Html =>
  html`<ul class="people">${rows.map((row) => html`<li>${row}</li>`)}</ul>`

/** Renders people as a list with buttons to follow them, or `empty` if there are none. */
export const peopleOf = (visit: Visit, people: ReadonlyArray<Person>, empty: string): Html =>
  people.length === 0
    ? html`<p class="soft empty">${empty}</p>`
    : listOf(people.map(({ account, relationship }) => accountRow(visit, account, { relationship })))

import { Context, Effect, Layer } from "effect"
import { type AccountRecord, Accounts } from "../../../../services/identity/Accounts.ts"
import { picturesOf } from "../../../../services/identity/PictureAddresses.ts"
import { ServerConfig } from "../../../../services/instance/ServerConfig.ts"
import { type Html, html } from "../../../html/Html.ts"
import { handleOf } from "./Texts.ts"

/** Returns the path of an account's page. */
export const accountPath = (id: bigint): string => `/admin/accounts/${id}`

/** Names and links of accounts for staff pages. */
export class AccountLines extends Context.Service<AccountLines, {
  readonly load: (ids: ReadonlyArray<bigint | null>) => Effect.Effect<AccountNames>
}>()("murmuration/http/staff/pages/parts/People") {
  static readonly layer = Layer.effect(
    AccountLines,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const config = yield* ServerConfig
      return AccountLines.of({
        load: Effect.fnUntraced(function*(ids) {
          const unique = [...new Set(ids.filter((id) => id !== null))]
          const found = unique.length === 0 ? [] : yield* accounts.load(unique)
          const known = new Map(found.map((record) => [record.id, record]))
          return {
            find: (id) => id === null ? undefined : known.get(id),
            handle: (id) => {
              const record = id === null ? undefined : known.get(id)
              return record === undefined ? undefined : handleOf(record)
            },
            line: (id) => {
              const record = id === null ? undefined : known.get(id)
              return record === undefined
                ? html`<span class="soft">–</span>`
                : line(record, picturesOf(config, record).avatarStatic)
            }
          }
        })
      })
    })
  )
}

export interface AccountNames {
  readonly find: (id: bigint | null) => AccountRecord | undefined
  /** Handle as `@name@domain`; undefined if the account no longer exists. */
  readonly handle: (id: bigint | null) => string | undefined
  /** Link to the account's page, with avatar and name. */
  readonly line: (id: bigint | null) => Html
}

const line = (record: AccountRecord, avatar: string): Html =>
  html`<a class="account" href="${
    accountPath(record.id)
  }"><img src="${avatar}" alt="" width="36" height="36" loading="lazy"><span>${
    record.displayName.trim() === "" ? "" : html`<bdi class="name">${record.displayName}</bdi> `
  }<span class="handle">${handleOf(record)}</span></span></a>`

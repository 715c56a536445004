import { Effect } from "effect"
import { type SettingKinds, settingKinds } from "./SettingKinds.ts"
import { type KindOf, type Reader, type SettingKey, settingKeys, settings, type ValuesFor } from "./SettingTable.ts"

/** Changes of settings; absent ones stay unchanged, and an empty value removes one. */
export type SettingChanges = { readonly [Key in SettingKey]?: ChangeOf<Key> }
type ChangeOf<Key extends SettingKey> = SettingKinds[KindOf[Key]]["change"]

const keysFor = (reader: Reader) => settingKeys.filter((key) => settings[key].reader === reader)

/** Returns the names in the table `settings` that a reader reads. */
export const storedNames = (reader: Reader): ReadonlyArray<string> => keysFor(reader).map((key) => settings[key].stored)

interface Row {
  readonly name: string
  readonly value: unknown
  readonly updatedAt: Date
}

/** Decodes the rows of a reader; `defaults` replaces the table's values of settings that are unset. */
export function settingValues<By extends Reader>(
  reader: By,
  rows: ReadonlyArray<Row>,
  defaults?: Partial<ValuesFor<By>>
): ValuesFor<By>
export function settingValues(
  reader: Reader,
  rows: ReadonlyArray<Row>,
  defaults: Readonly<Record<string, unknown>> = {}
): Readonly<Record<string, unknown>> {
  const set = new Map(rows.map((row) => [row.name, row]))
  const valueOf = <Key extends SettingKey>(key: Key) => {
    const { kind, params, stored, unset } = settings[key]
    const row = set.get(stored)
    const value = row === undefined ? undefined : settingKinds[kind].decode(row.value, row.updatedAt, params)
    return value ?? defaults[key] ?? unset
  }
  return Object.fromEntries(keysFor(reader).map((key) => [key, valueOf(key)]))
}

/** Collects the changes of the settings for which `read` returns one. */
export const collectChanges = Effect.fnUntraced(function*<E, R>(
  read: <Key extends SettingKey>(key: Key) => Effect.Effect<ChangeOf<Key> | undefined, E, R>
) {
  const changes: SettingChanges = {}
  for (const key of settingKeys) {
    const change = yield* read(key)
    if (change !== undefined) Object.assign(changes, { [key]: change })
  }
  return changes
})

/** Returns the rows that changes write to the table `settings`; undefined deletes a row. */
export const settingRowsOf = Effect.fnUntraced(function*(changes: SettingChanges) {
  const checked = <Key extends SettingKey>(key: Key, change: ChangeOf<Key>) => {
    const { kind, params } = settings[key]
    return settingKinds[kind].check(change, params)
  }
  const rows: Array<readonly [name: string, value: unknown]> = []
  for (const key of settingKeys) {
    const change = changes[key]
    if (change !== undefined) rows.push([settings[key].stored, yield* checked(key, change)])
  }
  return rows
})

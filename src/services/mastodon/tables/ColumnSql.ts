/* SQL for values of staged rows. */

/** Elements of a JSON list in a text column as an array; an empty array for null. */
export const listOf = (column: string, type: "bigint" | "text"): string =>
  `ARRAY(SELECT e::${type} FROM jsonb_array_elements_text(coalesce(${column}, '[]')::jsonb) e)`

/** `listOf`, but null for null and for an empty list. */
export const listOrNull = (column: string): string =>
  `CASE WHEN jsonb_array_length(coalesce(${column}, '[]')::jsonb) > 0 THEN ${listOf(column, "text")} END`

/** Condition: the account of the column is not here. */
export const lacksAccount = (column: string): readonly [string, string] => [
  `NOT EXISTS (SELECT FROM accounts a WHERE a.id = staged.${column})`,
  `the account of ${column} was not copied`
]

/** Condition: the local user of the column is not here. */
export const lacksUser = (column: string): readonly [string, string] => [
  `NOT EXISTS (SELECT FROM users u WHERE u.account_id = staged.${column})`,
  `the user of ${column} was not copied`
]

/** Condition: the post of the column is not here. */
export const lacksPost = (column: string): readonly [string, string] => [
  `NOT EXISTS (SELECT FROM statuses s WHERE s.id = staged.${column})`,
  `the post of ${column} was not copied`
]

/** Condition for `skips`: the post of the column is not here, as it is too old or was rejected. */
export const lacksPostHere = (column: string): string => lacksPost(column)[0]

/** Condition: the table has its maximum of rows with the ids of Mastodon; `counted` selects its rows `x` that count. */
export const beyond = (table: string, max: number, name: string, counted = "true"): readonly [string, string] => {
  const isNew = (row: string) => `NOT EXISTS (SELECT FROM ${table} x WHERE x.id = ${row}.id)`
  return [
    `${isNew("staged")} AND transfer_key NOT IN (SELECT s.transfer_key FROM staged s WHERE ${
      isNew("s")
    } ORDER BY s.transfer_key
      LIMIT greatest(0, ${max} - (SELECT count(*) FROM ${table} x WHERE ${counted})))`,
    `this server has its maximum of ${max} ${name}`
  ]
}

/** Statement that redirects former paths of files, the pairs in `redirects`, to their names here. */
export const writeRedirects = (joins = ""): string =>
  `INSERT INTO media_redirects (path, name)
    SELECT e ->> 0, e ->> 1 FROM staged s ${joins}, json_array_elements(s.redirects::json) e
    ON CONFLICT (path) DO UPDATE SET name = excluded.name`

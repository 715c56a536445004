/** The SQL condition that the account under `alias` is there for others: remote, or a user confirmed and approved. */
export const presentAccount = (alias: string): string =>
  `(${alias}.domain IS NOT NULL OR EXISTS (SELECT FROM users present
    WHERE present.account_id = ${alias}.id AND present.confirmed_at IS NOT NULL AND present.approved))`

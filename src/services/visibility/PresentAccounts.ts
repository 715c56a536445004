/** SQL condition: the account under `alias` is visible to others: remote, or of a confirmed and approved user. */
export const presentAccount = (alias: string): string =>
  `(${alias}.domain IS NOT NULL OR EXISTS (SELECT FROM users present
    WHERE present.account_id = ${alias}.id AND present.confirmed_at IS NOT NULL AND present.approved))`

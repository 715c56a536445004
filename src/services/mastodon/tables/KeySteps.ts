import { Effect } from "effect"
import { createPrivateKey, createPublicKey } from "node:crypto"
import { nowMark, type Step, type TextRow } from "../Step.ts"
import { lacksAccount } from "./ColumnSql.ts"

/** Owner of the instance actor's keys in `signing_keys`. */
const instanceOwner = "0"
/** Id of the instance actor's row in Mastodon. */
const instanceId = -99

/** Returns the public half of a private RSA key, and both as PEM; undefined for other texts. */
const pairOf = (pem: string) => {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === "rsa"
      ? {
        private: key.export({ type: "pkcs8", format: "pem" }).toString(),
        public: createPublicKey(key).export({ type: "spki", format: "pem" }).toString()
      }
      : undefined
  } catch {
    return undefined
  }
}

const write = `INSERT INTO signing_keys (owner_id, fragment, public_pem, private_pem, created_at)
  SELECT owner::bigint, fragment, public_pem, private_pem, created_at FROM staged
  ON CONFLICT (owner_id, fragment) DO UPDATE SET public_pem = excluded.public_pem, private_pem = excluded.private_pem`

/**
 * Keys of local accounts and of the instance actor: in clear beside the account, as up to Mastodon 4.6, or sealed in a
 * table of their own. `decrypt` opens sealed ones.
 */
export const make = (decrypt: (message: string) => string | undefined): ReadonlyArray<Step> => {
  const prepared = (row: TextRow, pem: string | undefined, id: string | null | undefined): TextRow => {
    const pair = pem === undefined ? undefined : pairOf(pem)
    return {
      ...row,
      owner: id === String(instanceId) ? instanceOwner : id ?? null,
      ["public_pem"]: pair?.public ?? null,
      ["private_pem"]: pair?.private ?? null,
      fragment: row["local_fragment"]?.replace(/^#/, "") ?? "main-key"
    }
  }
  const rejects = [
    ["private_pem IS NULL", "the private key cannot be read: wrong encryption keys, or damaged"],
    [
      "owner <> '0' AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = staged.owner::bigint)",
      "the account was not copied"
    ]
  ] as const
  return [
    {
      name: "keys of accounts",
      table: "accounts",
      // The instance actor's id is negative; cursors are not.
      key: "t.id + 100",
      where: "t.domain IS NULL AND coalesce(to_jsonb(t) ->> 'private_key', '') <> ''",
      columns: "id private_key created_at:timestamptz",
      prepared: "owner fragment public_pem private_pem",
      prepare: (rows) => Effect.succeed(rows.map((row) => prepared(row, row["private_key"] ?? undefined, row["id"]))),
      rejects,
      write: [write],
      changes: true
    },
    {
      name: "key pairs",
      table: "keypairs",
      joins: "JOIN accounts owner ON owner.id = t.account_id AND owner.domain IS NULL",
      where:
        `NOT coalesce(t.revoked, false) AND (t.expires_at IS NULL OR t.expires_at > '${nowMark}'::timestamp) AND t.type = 0`,
      columns: "account_id local_fragment private_key created_at:timestamptz",
      prepared: "owner fragment public_pem private_pem",
      prepare: (rows) =>
        Effect.succeed(rows.map((row) => {
          const stored = row["private_key"] ?? ""
          return prepared(row, stored.startsWith("-----") ? stored : decrypt(stored), row["account_id"])
        })),
      rejects,
      write: [write],
      changes: true
    },
    {
      name: "keys of remote accounts",
      table: "keypairs",
      joins: "JOIN accounts owner ON owner.id = t.account_id AND owner.domain IS NOT NULL",
      where: "NOT coalesce(t.revoked, false)",
      columns: "account_id:bigint uri public_key",
      rejects: [
        ["coalesce(uri, '') = '' OR coalesce(public_key, '') = ''", "the key has no id or no text"],
        lacksAccount("account_id")
      ],
      write: [`INSERT INTO remote_keys (key_id, account_id, public_pem) SELECT uri, account_id, public_key FROM staged
        ON CONFLICT (key_id, account_id) DO UPDATE SET public_pem = excluded.public_pem`]
    }
  ]
}

import { Type } from 'typebox'
import { entryKinds } from '../../storage/ports/ledger-entries.ts'
import { stringEnum, text, textOrNull } from '../schema.ts'

/** The schema of an entry. */
export const LedgerEntryObject = Type.Object(
  {
    object: Type.Literal('ledger_entry'),
    id: text('The ID of the entry.'),
    created_at: text('When the balance changed.'),
    kind: stringEnum(entryKinds, {
      description:
        '`credit` for money that the operator added or took back, `charge` for the cost of a request.',
    }),
    amount_usd: text(
      'The change of the balance in USD, an exact decimal number; negative where it became lower.',
    ),
    balance_usd: textOrNull(
      'The balance after the entry. Null if the list has one kind only, or begins after more than 10,000 newer entries.',
    ),
    request_id: textOrNull('The ID of the request that was charged.'),
    note: textOrNull('The note of the operator.'),
  },
  { title: 'LedgerEntry' },
)

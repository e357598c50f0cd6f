import { useState } from 'preact/hooks'
import { parseUsd } from '../../../lib/usd.ts'
import type { Organization } from '../../api/objects.ts'
import { type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { exactUsd } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { LimitFields, useLimitForm } from './limit-fields.tsx'
import { changeOf, creationOf } from './limits.ts'
import { type Billing, organizationPath } from './organization.tsx'

type DialogProps = DialogHandlers<Organization> & { readonly organization: Organization }

/** Creates an organization, or changes the billing and the limits of the one that is edited. */
export function OrganizationForm(
  props: DialogHandlers<Organization> & { readonly organization?: Organization | undefined },
) {
  const { organization: edited, ...handlers } = props
  const [text, setText] = useState('')
  const [billing, setBilling] = useState<Billing>(edited?.billing ?? 'unmetered')
  const limits = useLimitForm(edited)
  const name = text.trim()
  const fields = limits.fields && { billing, ...limits.fields }
  return (
    <FormDialog<Organization>
      title={edited ? `Edit ${edited.name}` : 'Create an organization'}
      action={edited ? 'Save' : 'Create'}
      change={
        edited
          ? changeOf(organizationPath(edited.id), edited, fields)
          : creationOf('/admin/organizations', name === '' ? undefined : fields && { name, ...fields })
      }
      {...handlers}
    >
      {edited === undefined && (
        <TextField
          label="Name"
          value={text}
          onInput={setText}
          hint="1 to 64 letters, digits, spaces, dots, dashes or underscores."
        />
      )}
      <SelectField label="Billing" value={billing} options={billingOptions} onChange={setBilling} />
      <LimitFields form={limits} empty="Default" />
    </FormDialog>
  )
}

const billingOptions: readonly { readonly value: Billing; readonly label: string }[] = [
  { value: 'unmetered', label: 'Unmetered: costs are recorded only' },
  { value: 'prepaid', label: 'Prepaid: requests are paid from the balance' },
  { value: 'none', label: 'None: requests to models are rejected' },
]

/** Adds credit to the balance, or subtracts it. The amount stays a decimal text: a float would round it. */
export function AddCredit({ organization, onClose, onDone }: DialogProps) {
  const toast = useToast()
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const usd = amount.trim()
  const nanos = parseUsd(usd)
  const path = `${organizationPath(organization.id)}/credit`
  const body = { amount: usd, note: note.trim() || undefined }
  return (
    <FormDialog<Organization>
      title={`Add credit to ${organization.name}`}
      action={nanos !== undefined && nanos < 0n ? 'Subtract credit' : 'Add credit'}
      change={nanos ? { method: 'POST', path, body } : undefined}
      onClose={onClose}
      onDone={(changed) => {
        toast(`The balance is now ${exactUsd(changed.balance_usd)}.`)
        onDone(changed)
      }}
    >
      <p>
        The balance is <strong class="number">{exactUsd(organization.balance_usd)}</strong>.
      </p>
      <TextField
        label="Amount in USD"
        inputMode="decimal"
        placeholder="12.50"
        value={amount}
        onInput={setAmount}
        hint="At most nine decimals. A negative amount subtracts."
        error={usd !== '' && nanos === undefined ? 'Enter a decimal number such as 12.50.' : undefined}
      />
      <TextField label="Note" placeholder="Invoice 7" value={note} onInput={setNote} />
    </FormDialog>
  )
}

/** Deletes an organization, once its name is typed. */
export function DeleteOrganization({ organization, ...handlers }: DialogProps) {
  const [typed, setTyped] = useState('')
  const path = organizationPath(organization.id)
  return (
    <FormDialog
      title={`Delete ${organization.name}`}
      action="Delete"
      kind="danger"
      change={typed === organization.name ? { method: 'DELETE', path } : undefined}
      {...handlers}
    >
      <p>
        Its API keys stop working at once, and its stored completions and responses are deleted. This cannot
        be undone.
      </p>
      <TextField label={`Type “${organization.name}” to confirm`} value={typed} onInput={setTyped} />
    </FormDialog>
  )
}

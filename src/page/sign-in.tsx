import { useEffect, useState } from 'preact/hooks'
import { useChange } from './api/resource.ts'
import { Button, CodeBlock } from './components/button.tsx'
import { TextField } from './components/field.tsx'
import { Logo } from './components/icon.tsx'
import { Failure, Loading } from './components/view.tsx'
import { identifyKeys, toKey, useSession } from './session.tsx'

type KeyFormProps = {
  /** Keys that are used at once. */
  readonly linkKeys?: readonly string[]
  readonly onDone?: () => void
}

/** Asks for a key, or uses that of a link. */
export function SignIn(props: KeyFormProps) {
  useEffect(() => {
    document.title = 'Enter a key · Weir'
  }, [])
  return (
    <main class="sign-in">
      <h1>
        <Logo /> Weir
      </h1>
      <KeyForm {...props} />
      <section class="quiet">
        <h2>Where to find a key</h2>
        <p>
          An API key opens the views of its organization. The first start of the gateway prints one. To create
          another one, run this command:
        </p>
        <CodeBlock code="weir keys create --name laptop" label="command for an API key" />
        <AdminKeyHelp />
        <p>
          Keys stay in this tab: they are sent to this gateway only, and are forgotten when you close the tab.
        </p>
      </section>
    </main>
  )
}

/** What an admin key is for, and how to get one. */
export function AdminKeyHelp() {
  return (
    <>
      <p>
        An admin key opens the views of the operator: organizations, API keys, providers and live requests. To
        open the page with a new one, run this command on the machine of the gateway:
      </p>
      <CodeBlock code="weir open --admin" label="command that opens the page" />
      <p>
        For one that lasts, run <code>weir admin-keys create</code> and enter it here. The value of{' '}
        <code>WEIR_ADMIN_KEY</code> is one, too, if the gateway has that variable.
      </p>
    </>
  )
}

/** The field for a key, which finds out of which kind it is. */
export function KeyForm({ linkKeys, onDone }: KeyFormProps) {
  const session = useSession()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { busy, failure, run } = useChange()
  const use = (keys: readonly string[]) =>
    run(async () => {
      session.add(await identifyKeys(keys))
      onDone?.()
    })
  useEffect(() => {
    if (linkKeys !== undefined) use(linkKeys)
  }, [linkKeys])
  const submit = (event: Event) => {
    event.preventDefault()
    const key = toKey(text)
    setProblem(
      key === undefined ? 'Enter an API key, which begins with sk-weir-, or an admin key.' : undefined,
    )
    if (key !== undefined) use([key])
  }
  return (
    <form class="key-form" onSubmit={submit}>
      <TextField
        label="API key or admin key"
        type="password"
        name="key"
        placeholder="sk-weir-…"
        value={text}
        onInput={setText}
        error={problem}
      />
      <Button label="Continue" kind="primary" type="submit" disabled={busy} />
      {busy && <Loading lines={1} label="Checking the key" />}
      {failure && <Failure failure={failure} advice={false} />}
    </form>
  )
}

import { useEffect, useState } from 'preact/hooks'
import { useChange } from './api/resource.ts'
import { Button, CodeBlock } from './components/button.tsx'
import { TextField } from './components/field.tsx'
import { Logo } from './components/icon.tsx'
import { Failure, Loading } from './components/view.tsx'
import { identifyKey, toKey, useSession } from './session.tsx'

type KeyFormProps = {
  /** A key that is used at once. */
  readonly linkKey?: string
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
        <p>The first start of the gateway prints an API key. To create another one, run this command:</p>
        <CodeBlock code="weir keys create --name laptop" label="command" />
        <p>
          The admin key is the value of <code>WEIR_ADMIN_KEY</code>. The key stays in this tab: it is sent to
          this gateway only, and is forgotten when you close the tab.
        </p>
      </section>
    </main>
  )
}

/** The field for a key, which finds out of which kind it is. */
export function KeyForm({ linkKey, onDone }: KeyFormProps) {
  const session = useSession()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { busy, failure, run } = useChange()
  const use = (key: string) =>
    run(async () => {
      session.add(await identifyKey(key))
      onDone?.()
    })
  useEffect(() => {
    if (linkKey !== undefined) use(linkKey)
  }, [linkKey])
  const submit = (event: Event) => {
    event.preventDefault()
    const key = toKey(text)
    setProblem(
      key === undefined ? 'Enter an API key, which begins with sk-weir-, or the admin key.' : undefined,
    )
    if (key !== undefined) use(key)
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
      {failure && <Failure failure={failure} />}
    </form>
  )
}

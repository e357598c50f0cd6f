import type { View } from '../view.ts'

function Playground() {
  return <h1>Playground</h1>
}

/** The playground: sends a conversation to one model or two, and shows the streamed answers. */
export const playground: View = {
  id: 'playground',
  title: 'Playground',
  icon: 'playground',
  section: 'organization',
  needs: 'apiKey',
  shortcut: 'p',
  component: Playground,
}

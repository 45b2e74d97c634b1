// An explanation as one page of HTML, which asks for no other file: `permc explain --html`.
#include "core/svg.h"
#include "runtime/draw/draw.h"
#include "runtime/explain/explain.h"

// Colours are the reader's own (light or dark). What is wider than the page scrolls by itself.
static const char style[] =
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:75rem;padding:1rem;"
    "background:Canvas;color:CanvasText}"
    "h1{font:600 1.3rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere}h2{font-size:1.1rem}"
    "figure{margin:0;overflow-x:auto}svg{fill:currentColor;font:12px system-ui,sans-serif}"
    "pre{overflow-x:auto;font:13px/1.45 ui-monospace,monospace}";

static void add_element(text *to, const char *element, const char *words) {
  text_printf(to, "<%s>", element);
  svg_escape(to, words);
  text_printf(to, "</%s>\n", element);
}

// A heading and the picture; without a picture, why there is none.
static void add_picture(text *to, arena *a, const pipeline *p, const draw_row *row) {
  draw_picture picture = {.svg = true};
  const char *problem = row->draw(&picture, a, p);
  text_printf(to, "<h2>%c%s</h2>\n", row->name[0] - 'a' + 'A', row->name + 1);
  if (problem)
    add_element(to, "p", arena_printf(a, "Not %s: %s.", row->what, problem));
  else
    text_printf(to,
                "<figure><svg role=\"img\" aria-label=\"%s\" width=\"%d\" height=\"%d\">\n"
                "%s</svg></figure>\n",
                row->name, picture.width, picture.height, text_content(&picture.body));
  to->failed = to->failed || picture.body.failed;
  text_free(&picture.body);
}

void explain_page(text *to, const permc_context *c, const explanation *e, bool show_rules) {
  arena *a = &e->pipeline->memory;
  text words = {0};
  text_printf(to,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width\">\n"
              "<link rel=\"icon\" href=\"data:,\">\n<style>%s</style>\n",
              style);
  text_printf(&words, "%s : %s", e->entry, e->type);
  add_element(to, "title", e->entry);
  add_element(to, "h1", text_content(&words));
  text_free(&words);
  for (size_t i = 0; draw_at(i); i++)
    add_picture(to, a, e->pipeline, draw_at(i));
  text_string(to, "<h2>What it comes to</h2>\n");
  explain_text(&words, c, e, show_rules);
  add_element(to, "pre", text_content(&words));
  to->failed = to->failed || words.failed;
  text_free(&words);
  text_string(to, "</html>\n");
}

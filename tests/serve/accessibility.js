// Returns what a person without sight, with weak sight or without a mouse would miss on a page.
(minContrast) => {
  const problems = [];
  const isShown = (element) => element.checkVisibility();
  if (!document.documentElement.lang) problems.push("the page has no language");
  if (!document.title.trim()) problems.push("the page has no title");
  if (document.querySelectorAll("h1").length !== 1) problems.push("the page has no single h1");
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!field.labels.length && !field.ariaLabel) problems.push("no label: " + field.outerHTML);
  }
  for (const control of document.querySelectorAll("a, button, summary")) {
    if (isShown(control) && !control.textContent.trim()) problems.push("no name: " + control.outerHTML);
  }
  for (const picture of document.querySelectorAll("svg, iframe, img")) {
    if (!picture.ariaLabel && !picture.title && !picture.alt) problems.push("no text: " + picture.tagName);
  }
  for (const element of document.querySelectorAll("[tabindex]")) {
    if (element.tabIndex > 0) problems.push("changes the order of focus: " + element.outerHTML);
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) problems.push("an id is used twice");

  const colour = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
  };
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const background = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const found = colour(getComputedStyle(node).backgroundColor);
      if (found.alpha > 0.5) return found.rgb;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !isShown(element)) continue;
    if (element.closest("svg, script, style, option")) continue;
    seen.add(element);
    const lights = [luminance(colour(getComputedStyle(element).color).rgb), luminance(background(element))];
    const contrast = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    if (contrast < minContrast) problems.push("contrast " + contrast.toFixed(2) + ": " + element.outerHTML.slice(0, 120));
  }
  return problems;
}
